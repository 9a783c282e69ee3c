// Late: what an outcome is worth when nobody waits for it any more.

import type { LateOutcome, Outcome } from "./executor.js";

/** Undefined when the attempt stopped as it was told to, or did not even begin. */
export function lateOf(outcome: Outcome): LateOutcome | undefined {
  switch (outcome.kind) {
    case "aborted":
    case "overBudget":
      return undefined;
    case "completed":
      return { kind: "completed" };
    default:
      return { kind: "failed", error: outcome.error };
  }
}
