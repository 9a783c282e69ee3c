// Failures in OpenAI's words, and in those of the servers that speak like it.

import type { LlmError, LlmErrorCode } from "../llm-error.js";
import { connectionFailure, vendorFailure } from "../sdk/failure.js";
import { OPENAI } from "./names.js";

const TOO_LONG = /(maximum|exceeds?( the)?( available)?) context (length|window|size)/i;

export function openAiFailure(error: unknown): LlmError {
  const {
    status,
    code,
    type,
    param,
    headers,
    requestID,
    error: body,
  } = error as Partial<Record<string, unknown>>;
  const said = statusOf(status, code, type);
  if (said === undefined) return connectionFailure(OPENAI, error);
  const message = (body as { message?: unknown } | undefined)?.message;
  const words = typeof message === "string" ? message : undefined;
  return vendorFailure(OPENAI, {
    status: said,
    type: typeof code === "string" ? code : type,
    field: param,
    requestId: requestID,
    headers,
    message: words,
    code: codeOf(said, code, words),
  });
}

/** Errors inside a stream have a code, which some servers make a status. */
function statusOf(status: unknown, code: unknown, type: unknown): number | undefined {
  if (typeof status === "number") return status;
  const number = Number(code);
  if (number >= 400 && number < 600) return number;
  if (code === "rate_limit_exceeded") return 429;
  if (code === "context_length_exceeded" || type === "invalid_request_error") return 400;
  return typeof code === "string" || typeof type === "string" ? 500 : undefined;
}

function codeOf(status: number, code: unknown, words = ""): LlmErrorCode | undefined {
  if (code === "context_length_exceeded" || (status === 400 && TOO_LONG.test(words)))
    return "LLM_CONTEXT_TOO_LONG";
  // Waiting fills no account.
  return code === "insufficient_quota" ? "LLM_REQUEST_REFUSED" : undefined;
}
