// Divergence: the words for a replay that met something else than what its log recorded.

import { firstDifference } from "./codec/index.js";
import { HeddleError } from "./errors.js";
import type { ExecutionEvent } from "./events.js";
import { MATCHED_FIELDS, wireAt } from "./request.js";

/** How the flow's code differs from its log. */
export type Divergence =
  | { readonly kind: "other"; readonly recorded: ExecutionEvent; readonly attempted: ExecutionEvent }
  | {
      readonly kind: "unreached";
      readonly recorded: ExecutionEvent;
      readonly how: "returned" | "threw" | "waits";
    };

/** The error that sets an execution aside. Nothing was appended; the old code can go on with it. */
export function divergenceError(executionId: string, position: number, divergence: Divergence): HeddleError {
  const recorded = label(divergence.recorded);
  const details = { executionId, position, recorded };
  const where = `Execution ${executionId} diverged at position ${position}`;
  const remedy =
    "Deploy the code that started it, or register the new code under a new flow version; nothing was recorded.";
  switch (divergence.kind) {
    case "unreached": {
      const how = {
        returned: "the flow returned before reaching it",
        threw: "the flow threw before reaching it",
        waits:
          "the flow waits for something else and never reaches it. If its code did not change, it awaits something that is " +
          "not from ctx (a timer, a request, a file): move that into a step",
      }[divergence.how];
      return new HeddleError("REPLAY_DIVERGED", `${where}: the log has ${recorded}, but ${how}. ${remedy}`, {
        details,
      });
    }
    case "other": {
      const attempted = label(divergence.attempted);
      const difference = fieldDifference(divergence.recorded, divergence.attempted);
      const field = difference
        ? ` They differ at ${difference.path}: recorded ${difference.recorded}, attempted ${difference.attempted}.`
        : "";
      const hint = difference ? ambientHint(difference.values) : "";
      return new HeddleError(
        "REPLAY_DIVERGED",
        `${where}: the log has ${recorded}, the code attempted ${attempted}.${field}${hint} ${remedy}`,
        { details: { ...details, attempted, ...(difference && { field: difference.path }) } },
      );
    }
  }
}

/** A short name for one entry of a log. */
export function label(event: ExecutionEvent): string {
  switch (event.type) {
    case "STEP_STARTED":
    case "STEP_COMPLETED":
    case "STEP_FAILED":
    case "STEP_RETRIED":
    case "EFFECT_INDOUBT":
    case "EFFECT_METERED":
    case "QUOTA_EXCEEDED":
    case "OUTCOME_LATE":
      return `${event.type} ${event.stepId}`;
    case "DECISION_RECORDED":
    case "DECISION_FAILED":
      return `${event.type} ${event.decisionId}`;
    case "EXECUTION_SUSPENDED":
      return event.kind === "sleep" ? `a sleep (${event.gateId})` : `EXECUTION_SUSPENDED on ${event.on}`;
    case "GATE_EVENT":
    case "DOMAIN_EVENT":
    case "EFFECT_EVENT":
    case "STREAM_DELTA":
      return `event ${event.name}`;
    case "VALUE_RECORDED":
      return `ctx.${event.name}()`;
    case "SURFACE_PATCH":
      return `SURFACE_PATCH ${event.operation} ${event.key}`;
    case "GATE_TIMED_OUT":
    case "TIMER_FIRED":
    case "EXECUTION_RESUMED":
      return `${event.type} ${event.gateId}`;
    case "EXECUTION_STARTED":
    case "EXECUTION_COMPLETED":
    case "EXECUTION_FAILED":
    case "EXECUTION_CANCELLED":
    case "CANCEL_REQUESTED":
      return event.type;
  }
}

interface FieldDifference {
  readonly path: string;
  readonly recorded: string;
  readonly attempted: string;
  readonly values: readonly [unknown, unknown];
}

function fieldDifference(recorded: ExecutionEvent, attempted: ExecutionEvent): FieldDifference | undefined {
  if (recorded.type !== attempted.type) return undefined;
  for (const field of MATCHED_FIELDS[recorded.type] ?? []) {
    const difference = firstDifference(wireAt(recorded, field), wireAt(attempted, field));
    if (difference) return { ...difference, path: difference.path.replace(/^value/, field) };
  }
  return undefined;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const YEAR_2001 = 1e12;

/**
 * When both values look like the same ambient source read twice, the usual mistake is reading it in the flow's body.
 * A guess, and worded as one: clocks give numbers around now, randomness fractions or UUIDs.
 */
function ambientHint([recorded, attempted]: readonly [unknown, unknown]): string {
  const both = (is: (value: unknown) => boolean): boolean => is(recorded) && is(attempted);
  if (
    both((value) => value instanceof Date || (typeof value === "number" && value > YEAR_2001)) ||
    both(isTimestampText)
  ) {
    return " Both look like readings of a clock: use ctx.now() instead of Date.now() or new Date().";
  }
  if (both((value) => typeof value === "number" && value > 0 && value < 1)) {
    return " Both look like random fractions: use ctx.random() instead of Math.random().";
  }
  if (both((value) => typeof value === "string" && UUID.test(value))) {
    return " Both hold a UUID: use ctx.uuid() instead of crypto.randomUUID().";
  }
  if (both((value) => typeof value === "string" && /\d{13}/.test(value))) {
    return " Both hold a number like a timestamp: use ctx.now() instead of Date.now().";
  }
  if (both((value) => typeof value === "string" && /0\.\d{6,}/.test(value))) {
    return " Both hold a random fraction: use ctx.random() instead of Math.random().";
  }
  return "";
}

function isTimestampText(value: unknown): boolean {
  return typeof value === "string" && /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(value);
}
