// Failures of tools: which of them a model is told of, and which end its agent.

import { HeddleError, type HeddleErrorCode, hasCode, TypedFailure } from "../../kernel/index.js";
import type { ToolCallError, ToolErrorCode } from "../result.js";

/** What no model may act on: somebody said no or stop, or what is wrong is not the call. */
const FINAL: ReadonlySet<HeddleErrorCode> = new Set<HeddleErrorCode>([
  "EFFECT_DENIED",
  "EFFECT_STOPPED",
  "QUOTA_EXCEEDED",
  "EFFECT_UNKNOWN",
  "EFFECT_MODE_VIOLATION",
  "NEXT_MISUSED",
  "CONFIG_INVALID",
  "DEFINITION_CONFLICT",
  "AGENT_LOOP_CONFIG_INVALID",
  "SEALING_KEY_MISSING",
  "SEALED_UNREADABLE",
  "SECRET_UNRESOLVED",
  "STEP_ID_REUSED",
  "ID_INVALID",
  "CONTEXT_MISUSED",
  "FOREIGN_AWAIT",
  "REPLAY_DIVERGED",
  "RUNTIME_CLOSED",
  "STORAGE_FAILED",
  "INVARIANT_BROKEN",
]);

export function isFinal(error: unknown): boolean {
  // Other systems have a CANCELLED of their own; the one that ends this flow is made here.
  if (error instanceof HeddleError && error.code === "CANCELLED") return true;
  return FINAL.has((error as { readonly code?: HeddleErrorCode } | undefined)?.code as HeddleErrorCode);
}

/** Of a call that was stopped: whether it had begun to do anything. */
export function hasBegun(error: unknown): boolean {
  const { details } = (error ?? {}) as { readonly details?: { readonly hasBegun?: unknown } };
  return !hasCode(error, "STEP_STOPPED") || details?.hasBegun !== false;
}

export function describeFailure(error: unknown): ToolCallError {
  return { code: codeOf(error), message: error instanceof Error ? error.message : String(error) };
}

function codeOf(error: unknown): ToolErrorCode {
  if (hasCode(error, "EFFECT_TIMED_OUT") || hasCode(error, "EFFECT_DEADLINE_EXCEEDED")) return "timedOut";
  return hasCode(error, "VALUE_TOO_LARGE") ? "resultTooLarge" : "failed";
}

/** What a failure on a declared channel carries. */
export function detailsOf(error: unknown): { channel?: string; payload?: unknown } {
  if (!(error instanceof TypedFailure)) return {};
  const { channel, payload } = error;
  return { channel, payload };
}
