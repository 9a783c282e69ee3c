// Failures in the words of the AI SDK.

import { LlmError, type LlmErrorCode } from "../llm-error.js";
import { connectionFailure, malformed, vendorFailure } from "../sdk/failure.js";

const TOO_LONG = /context (length|window|limit)|prompt is too long|token count .*exceeds/i;

const CODES: Readonly<Record<string, LlmErrorCode>> = {
  AI_LoadAPIKeyError: "LLM_UNAUTHENTICATED",
  AI_InvalidPromptError: "LLM_REQUEST_REFUSED",
  AI_InvalidArgumentError: "LLM_REQUEST_REFUSED",
  AI_UnsupportedFunctionalityError: "LLM_REQUEST_REFUSED",
  AI_NoSuchModelError: "LLM_REQUEST_REFUSED",
  AI_LoadSettingError: "LLM_REQUEST_REFUSED",
};

const UNREADABLE = new Set([
  "AI_JSONParseError",
  "AI_TypeValidationError",
  "AI_InvalidResponseDataError",
  "AI_EmptyResponseBodyError",
  "AI_NoContentGeneratedError",
]);

export function aiSdkFailure(provider: string, error: unknown): LlmError {
  if (typeof error !== "object" || error === null)
    return vendorFailure(provider, { status: 500, message: String(error) });
  const { name, message, statusCode, responseHeaders: headers } = error as Partial<Record<string, unknown>>;
  const words = typeof message === "string" ? message : undefined;
  if (typeof statusCode === "number" && statusCode >= 400) {
    const code = statusCode === 400 && TOO_LONG.test(words ?? "") ? "LLM_CONTEXT_TOO_LONG" : undefined;
    return vendorFailure(provider, { status: statusCode, headers, message: words, code });
  }
  const type = typeof name === "string" ? name : "";
  if (UNREADABLE.has(type) || typeof statusCode === "number")
    return malformed(provider, "it could not be read", words);
  const code = CODES[type];
  if (code !== undefined) return vendorFailure(provider, { code, type, message: words });
  // Inside a stream a vendor's error is its body.
  return error instanceof Error
    ? connectionFailure(provider, error)
    : vendorFailure(provider, { status: 500, message: words });
}
