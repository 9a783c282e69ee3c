// Failures of vendors: which of ours a status or a broken connection is. The words are ours too: a vendor's may quote the request.

import { retryHintOf } from "../../effects/index.js";
import { LlmError, type LlmErrorCode } from "../llm-error.js";

/** What a vendor said, read from its SDK's error without trust. */
export interface VendorFailure {
  /** Of HTTP. Absent: there was no answer. */
  readonly status?: number | undefined;
  /** The vendor's own code or kind, such as `overloaded_error`. */
  readonly type?: unknown;
  /** Which field of the request it is about. */
  readonly field?: unknown;
  readonly requestId?: unknown;
  readonly headers?: unknown;
  readonly retryAfterMs?: number | undefined;
  readonly message?: string | undefined;
  /** Where the vendor says more than its status does. */
  readonly code?: LlmErrorCode | undefined;
}

const WORDS: Readonly<Record<LlmErrorCode, string>> = {
  LLM_PROMPT_INVALID: "cannot take the request",
  LLM_SDK_MISSING: "is not installed",
  LLM_UNAUTHENTICATED: "does not accept the key, or not for this",
  LLM_REQUEST_REFUSED:
    "refuses the request; `vendorMessage` of this error has its reasons where it was thrown",
  LLM_CONTEXT_TOO_LONG:
    "takes no conversation of this length: compact it, or ask a model with a larger window",
  LLM_RATE_LIMITED: "wants fewer requests",
  LLM_UNAVAILABLE: "is overloaded or out of order",
  LLM_RESPONSE_INVALID: "answered with something that is no answer",
  LLM_ABORTED: "was stopped",
};

export function vendorFailure(provider: string, failure: VendorFailure): LlmError {
  const code = failure.code ?? codeOf(failure.status);
  const type = asName(failure.type);
  const details = {
    ...(failure.status !== undefined && { status: failure.status }),
    ...(type !== undefined && { type }),
    ...(asName(failure.field) !== undefined && { field: failure.field }),
    ...(asName(failure.requestId) !== undefined && { requestId: failure.requestId }),
  };
  const facts = [failure.status !== undefined && `status ${failure.status}`, type, details.field].filter(
    Boolean,
  );
  const aside = facts.length > 0 ? ` (${facts.join(", ")})` : "";
  const after = failure.retryAfterMs ?? retryHintOf({ headers: failure.headers }, Date.now()).retryAfterMs;
  return new LlmError(code, `${provider} ${WORDS[code]}${aside}.`, {
    provider,
    details,
    retryAfterMs: code === "LLM_RATE_LIMITED" || code === "LLM_UNAVAILABLE" ? after : undefined,
    vendorMessage: failure.message,
  });
}

/** For what an SDK throws when there was no answer, or one that it could not read. */
export function connectionFailure(provider: string, error: unknown): LlmError {
  const message = error instanceof Error ? error.message : undefined;
  if (isUnreadable(error)) return malformed(provider, "it could not be read", message);
  const type = asName(systemCodeOf(error));
  return new LlmError(
    "LLM_UNAVAILABLE",
    `${provider} could not be reached, or the connection broke off${type === undefined ? "" : ` (${type})`}.`,
    { provider, details: { ...(type !== undefined && { type }) }, vendorMessage: message },
  );
}

/** For an answer whose end never came. */
export function brokenOff(provider: string): LlmError {
  return new LlmError("LLM_UNAVAILABLE", `The answer of ${provider} broke off before its end.`, {
    provider,
    details: { type: "brokenOff" },
  });
}

export function malformed(provider: string, complaint: string, vendorMessage?: string): LlmError {
  return new LlmError(
    "LLM_RESPONSE_INVALID",
    `${provider} answered with something that is no answer: ${complaint}.`,
    {
      provider,
      vendorMessage,
    },
  );
}

/** For what a request holds and this provider cannot be told. */
export function unsupported(provider: string, what: string): LlmError {
  return new LlmError("LLM_REQUEST_REFUSED", `${provider} takes no ${what}.`, { provider });
}

/** Vendors' names for things, and nothing a person wrote. */
function asName(value: unknown): string | undefined {
  return typeof value === "string" && /^[\w.[\]-]{1,100}$/.test(value) ? value : undefined;
}

function codeOf(status = 0): LlmErrorCode {
  if (status === 401 || status === 403) return "LLM_UNAUTHENTICATED";
  if (status === 413) return "LLM_CONTEXT_TOO_LONG";
  if (status === 429) return "LLM_RATE_LIMITED";
  if (status === 408 || status === 409 || status >= 500) return "LLM_UNAVAILABLE";
  return status >= 400 ? "LLM_REQUEST_REFUSED" : "LLM_RESPONSE_INVALID";
}

/** Node's fetch fails with a TypeError that has a cause; one without comes of an answer in a shape nobody expected. */
function isUnreadable(error: unknown): boolean {
  return error instanceof SyntaxError || (error instanceof TypeError && error.cause === undefined);
}

function systemCodeOf(error: unknown): unknown {
  for (let at = error, depth = 0; typeof at === "object" && at !== null && depth < 4; depth++) {
    const { code, cause } = at as { code?: unknown; cause?: unknown };
    if (typeof code === "string") return code;
    at = cause;
  }
  return undefined;
}
