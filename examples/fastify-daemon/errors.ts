// Errors: the one place where heddle's codes become HTTP statuses, and where what clients are told is decided.

import type { FastifyInstance } from "fastify";
import { ERROR_CODES, HeddleError, type HeddleErrorCode, ResumePayloadValidationError } from "heddle";
import type { ZodError } from "zod";

/**
 * What a client has got wrong. Everything else is ours: 503 where heddle says that trying again can help, 500 where not.
 * GATE_NOT_OPEN may be worth another try too, but that is for the client to judge: no outage, so no 503.
 */
const CLIENT_STATUS: Partial<Record<HeddleErrorCode, number>> = {
  ID_INVALID: 400,
  INPUT_INVALID: 400,
  RESUME_PAYLOAD_INVALID: 400,
  VALUE_NOT_RECORDABLE: 400,
  VALUE_TOO_LARGE: 413,
  EXECUTION_UNKNOWN: 404,
  EXECUTION_CONFLICT: 409,
  EXECUTION_ENDED: 409,
  GATE_NOT_OPEN: 409,
  GATE_AMBIGUOUS: 409,
  GATE_ALREADY_RESOLVED: 409,
  RUNTIME_CLOSED: 503,
};

/** One complaint about a request: where, and what is wrong there. */
interface Issue {
  readonly path: string;
  readonly message: string;
}

/** A request that does not fit its route's schema. */
export class RequestInvalid extends Error {
  override name = "RequestInvalid";
  readonly code = "REQUEST_INVALID";
  readonly issues: readonly Issue[];

  constructor(part: string, issues: readonly Issue[]) {
    super(`The request is not valid in its ${part}.`);
    this.issues = issues;
  }

  static from(part: string, { issues }: ZodError): RequestInvalid {
    return new RequestInvalid(
      part,
      issues.map(({ path, message }) => ({ path: path.join("."), message })),
    );
  }
}

interface Answer {
  readonly status: number;
  readonly body: { readonly code: string; readonly message: string; readonly issues?: readonly Issue[] };
}

export function answerErrors(server: FastifyInstance): void {
  server.setErrorHandler(async (error, request, reply) => {
    const { status, body } = answerTo(error);
    if (status >= 500) request.log.error({ err: error }, "a request failed");
    if (status === 503) void reply.header("retry-after", "1");
    return reply.code(status).send(body);
  });
  server.setNotFoundHandler(async ({ method, url }, reply) =>
    reply.code(404).send({ code: "ROUTE_UNKNOWN", message: `There is no ${method} ${url}.` }),
  );
}

export function answerTo(error: unknown): Answer {
  if (error instanceof RequestInvalid) {
    return { status: 400, body: { code: error.code, message: error.message, issues: error.issues } };
  }
  if (error instanceof HeddleError) {
    const { code, message } = error;
    const { retryable, meaning } = ERROR_CODES[code];
    const status = CLIENT_STATUS[code] ?? (retryable ? 503 : 500);
    // Our own troubles are logged; their messages name directories and processes, which are nobody else's business.
    if (status >= 500) return { status, body: { code, message: meaning } };
    const issues = error instanceof ResumePayloadValidationError ? { issues: error.issues } : {};
    return { status, body: { code, message, ...issues } };
  }
  if (isRefusedByFastify(error)) {
    return { status: error.statusCode, body: { code: error.code, message: error.message } };
  }
  return {
    status: 500,
    body: { code: "INTERNAL", message: "Something went wrong here; it has been logged." },
  };
}

/** What Fastify itself found wrong with a request: no JSON, too long, of an unknown type. */
function isRefusedByFastify(error: unknown): error is Error & { statusCode: number; code: string } {
  if (!(error instanceof Error) || !("statusCode" in error) || !("code" in error)) return false;
  const { statusCode, code } = error;
  return typeof statusCode === "number" && statusCode >= 400 && statusCode < 500 && typeof code === "string";
}
