// Requests: what a flow may ask of its context, checked as it enters, and compared with what the log has.

import { sameWire, type Wire } from "./codec/index.js";
import { HeddleError } from "./errors.js";
import { type EventOf, type EventType, type ExecutionEvent, RESERVED_EVENT_NAMES } from "./events.js";
import { checkId } from "./ids.js";
import type { UsageReport } from "./task.js";

/**
 * What a request is matched on, kind by kind, in the order in which a difference is looked for. Due times and the tool
 * that serves a step are the record's to say; values drawn are matched by name where they are drawn.
 */
export const MATCHED_FIELDS: { readonly [K in EventType]?: readonly (keyof EventOf<K>)[] } = {
  STEP_STARTED: ["stepId", "kind", "input", "shielded"],
  EXECUTION_SUSPENDED: ["on", "kind", "correlationKey", "gateId", "shielded"],
  DOMAIN_EVENT: ["name", "payload"],
  STREAM_DELTA: ["name", "delta", "done"],
  SURFACE_PATCH: ["operation", "key", "surface", "value"],
};

/** Whether a request is the recorded one. */
export function matchesRequest(recorded: ExecutionEvent, attempted: ExecutionEvent): boolean {
  const fields: readonly string[] | undefined = MATCHED_FIELDS[attempted.type];
  if (!fields || recorded.type !== attempted.type) return false;
  return fields.every((field) => {
    const before = wireAt(recorded, field);
    const after = wireAt(attempted, field);
    return before === after || sameWire(before, after);
  });
}

/** A field of an event by its name; every field is a wire, if only a plain string. */
export function wireAt(event: ExecutionEvent, field: string): Wire {
  return (event as unknown as Readonly<Record<string, Wire>>)[field];
}

/** Refuses a name for a gate or an event that the log uses itself. */
export function checkEventName(field: string, name: unknown): asserts name is string {
  checkId(field, name);
  if (RESERVED_EVENT_NAMES.has(name)) {
    throw new HeddleError("ID_INVALID", `${field} ${name} is a name the log uses itself; choose another.`, {
      details: { field },
    });
  }
}

/**
 * Refuses what is neither text nor absent, whatever a program without types hands over: what enters the log as it stands
 * has to be writable, or it would fail the commit of everybody in the pass.
 */
export function checkText(what: string, of: string, value: unknown): void {
  if (value === undefined || typeof value === "string") return;
  throw new HeddleError("INPUT_INVALID", `The ${what} ${of} must be text where it is given.`);
}

/** The last instant a Date can hold, ECMA-262 section 21.4.1.1. */
const LATEST_DUE_TIME = 8.64e15;

/** When a duration from `now` is over, both in milliseconds. Not-a-number and infinite are refused; past means at once. */
export function dueTime(field: string, durationMs: number, now: number): number {
  if (typeof durationMs !== "number" || Number.isNaN(durationMs)) {
    throw new HeddleError(
      "INPUT_INVALID",
      `${field} must be a number of milliseconds, not ${String(durationMs)}.`,
    );
  }
  const due = now + Math.max(0, Math.ceil(durationMs));
  if (due <= LATEST_DUE_TIME) return due;
  throw new HeddleError(
    "INPUT_INVALID",
    `${field} of ${durationMs} ms ends after the last date there is; to wait for ever suspend without a timeout.`,
  );
}

/** What `ctx.meter` is told. Throws INPUT_INVALID for what is no number of at least 0. */
export function checkUsage(usage: UsageReport | null | undefined): {
  readonly tokens: number;
  readonly cost: number;
} {
  const { tokens = 0, cost = 0 } = usage ?? {};
  for (const [what, value] of [
    ["tokens", tokens],
    ["cost", cost],
  ] as const) {
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) continue;
    throw new HeddleError(
      "INPUT_INVALID",
      `ctx.meter: ${what} must be a number of at least 0, not ${String(value)}. Reports add up: say what came in addition.`,
    );
  }
  return { tokens, cost };
}
