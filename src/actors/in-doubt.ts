// In doubt: the verdict of somebody who looked into the world, where the log cannot say what became of an effect.

import {
  type EventOf,
  failureToWire,
  fromWire,
  HeddleError,
  type OpenStep,
  parseOutput,
  type Secrecy,
  toWire,
  type ValueLimits,
} from "../kernel/index.js";
import type { Verdict } from "./messages.js";

export type InDoubtVerdict =
  /** It did its work, and this is what it gave. */
  | { readonly outcome: unknown }
  /** It did nothing, or not enough: the step fails with this. */
  | { readonly fail: unknown }
  /** It did nothing: the step runs again, under the same idempotency key. */
  | { readonly retry: true };

/** @throws INPUT_INVALID, VALUE_NOT_RECORDABLE, VALUE_TOO_LARGE */
export function readVerdict(verdict: InDoubtVerdict, limits: ValueLimits): Verdict {
  const given = typeof verdict === "object" && verdict !== null ? Object.keys(verdict) : [];
  if (given.length === 1) {
    if ("outcome" in verdict) return { kind: "outcome", output: toWire(verdict.outcome, limits) };
    if ("fail" in verdict) return { kind: "fail", error: failureToWire(verdict.fail, limits) };
    if ("retry" in verdict && verdict.retry === true) return { kind: "retry" };
  }
  throw new HeddleError(
    "INPUT_INVALID",
    "A verdict is one of { outcome: value }, { fail: error } and { retry: true }.",
    { details: { given } },
  );
}

/**
 * What a verdict makes of its step; undefined when it is to run again.
 *
 * @throws OUTPUT_INVALID, VALUE_NOT_RECORDABLE, VALUE_TOO_LARGE
 */
export function outcomeOfVerdict(
  { stepId, task }: OpenStep,
  verdict: Verdict,
  secrecy: Secrecy,
  limits: ValueLimits,
): EventOf<"STEP_COMPLETED" | "STEP_FAILED"> | undefined {
  switch (verdict.kind) {
    case "outcome": {
      const value = fromWire(verdict.output);
      const parsed = parseOutput(task, value);
      return { type: "STEP_COMPLETED", stepId, output: secrecy.wireOf(parsed, task.outputSchema, limits) };
    }
    case "fail": {
      const error = secrecy.scrub(verdict.error);
      return { type: "STEP_FAILED", stepId, error, channel: undefined, payload: undefined };
    }
    case "retry":
      return undefined;
  }
}

export function notInDoubt(executionId: string, stepId: string): HeddleError {
  return new HeddleError(
    "STEP_NOT_IN_DOUBT",
    `Step ${stepId} of execution ${executionId} waits for no verdict. Its state shows how it stands.`,
    { details: { executionId, stepId } },
  );
}
