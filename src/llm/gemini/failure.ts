// Failures in Gemini's words. Its SDK makes the body of an answer the message of an error, and keeps no headers.

import type { LlmError, LlmErrorCode } from "../llm-error.js";
import { brokenOff, connectionFailure, malformed, vendorFailure } from "../sdk/failure.js";
import { GEMINI } from "./names.js";

interface Said {
  readonly message?: unknown;
  readonly status?: unknown;
  readonly details?: readonly { readonly reason?: unknown; readonly retryDelay?: unknown }[];
}

const TOO_LONG = /token count .*exceeds the maximum/i;

export function geminiFailure(error: unknown): LlmError {
  const { status, message } = error as Partial<Record<string, unknown>>;
  const words = typeof message === "string" ? message : "";
  if (typeof status !== "number") {
    if (words.startsWith("Incomplete JSON segment")) return brokenOff(GEMINI);
    if (words.startsWith("exception parsing")) return malformed(GEMINI, "it could not be read", words);
    return connectionFailure(GEMINI, error);
  }
  const said = bodyIn(words);
  const details = Array.isArray(said.details) ? said.details : [];
  return vendorFailure(GEMINI, {
    status,
    type: said.status,
    message: typeof said.message === "string" ? said.message : words,
    retryAfterMs: details
      .map(({ retryDelay }) => millisecondsOf(retryDelay))
      .find((delay) => delay !== undefined),
    code: codeOf(status, details, words),
  });
}

function codeOf(
  status: number,
  details: NonNullable<Said["details"]>,
  words: string,
): LlmErrorCode | undefined {
  if (status !== 400) return undefined;
  if (details.some(({ reason }) => reason === "API_KEY_INVALID")) return "LLM_UNAUTHENTICATED";
  return TOO_LONG.test(words) ? "LLM_CONTEXT_TOO_LONG" : undefined;
}

/** Inside a stream there are words before the body. */
function bodyIn(words: string): Said {
  try {
    const body = JSON.parse(words.slice(words.indexOf("{"))) as { error?: Said } | null;
    return body?.error ?? {};
  } catch {
    return {};
  }
}

/** A duration of protocol buffers, such as "37.5s". */
function millisecondsOf(duration: unknown): number | undefined {
  const seconds = typeof duration === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(duration)?.[1] : undefined;
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}
