// Failures in Anthropic's words.

import type { LlmError, LlmErrorCode } from "../llm-error.js";
import { connectionFailure, vendorFailure } from "../sdk/failure.js";
import { ANTHROPIC } from "./names.js";

/** Errors inside a stream have a kind and no status. */
const STATUS_BY_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

const TOO_LONG = /prompt is too long|exceeds? (the )?context (limit|window)/i;

export function anthropicFailure(error: unknown): LlmError {
  const { status, type, error: body, headers, requestID } = error as Partial<Record<string, unknown>>;
  const kind = typeof type === "string" ? type : undefined;
  const known = typeof status === "number" ? status : STATUS_BY_TYPE[kind ?? ""];
  if (known === undefined && kind === undefined) return connectionFailure(ANTHROPIC, error);
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message;
  const words = typeof message === "string" ? message : undefined;
  const code: LlmErrorCode | undefined =
    known === 400 && TOO_LONG.test(words ?? "") ? "LLM_CONTEXT_TOO_LONG" : undefined;
  return vendorFailure(ANTHROPIC, {
    status: known ?? 500,
    type: kind,
    // "messages.1.content.0.type: ..." says where.
    field: /^([a-z_]+(?:\.\w+)+):/.exec(words ?? "")?.[1],
    requestId: requestID,
    headers,
    message: words,
    code,
  });
}
