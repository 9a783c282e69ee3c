// LogClaims: what the log of one execution says, as far as a soak asks.

import type { EventEnvelope } from "../../src/index.js";

type Events = readonly EventEnvelope[];

const ENDS = new Set(["EXECUTION_COMPLETED", "EXECUTION_FAILED", "EXECUTION_CANCELLED"]);

export function hasEnded(events: Events): boolean {
  return ENDS.has(events.at(-1)?.type ?? "");
}

/** Whether what an acknowledgement stands for is there, by the word a host says. */
export const ACKNOWLEDGED: Readonly<Record<string, (events: Events) => boolean>> = {
  started: ([first]) => first?.type === "EXECUTION_STARTED",
  resumed: (events) => events.some(({ type }) => type === "Go"),
  decided: isDecided,
  cancelled: (events) => events.some(({ type }) => type === "CANCEL_REQUESTED"),
  ended: hasEnded,
};

export interface Retry {
  readonly stepId: string;
  readonly attempt: number;
  readonly reason: string;
}

export function retriesOf(events: Events, stepId: string): Retry[] {
  return events
    .filter(({ type }) => type === "STEP_RETRIED")
    .map(({ payload }) => payload as Retry)
    .filter((retry) => retry.stepId === stepId);
}

export function isRepeatedWhenDone(events: Events, stepId: string): boolean {
  const ofStep = events.filter(({ payload }) => (payload as { stepId?: string }).stepId === stepId);
  const done = ofStep.findIndex(({ type }) => type === "STEP_COMPLETED");
  return done >= 0 && ofStep.slice(done).some(({ type }) => type === "STEP_RETRIED");
}

/** Whether a verdict stands behind a step that was in doubt. */
function isDecided(events: Events): boolean {
  const after = events.slice(events.findIndex(({ type }) => type === "EFFECT_INDOUBT") + 1);
  return after.some(({ payload }) => (payload as { stepId?: string }).stepId === "once");
}

/**
 * What a log says, less what a crash may leave in it: repeated attempts and what these emitted, doubts, times, the order of branches.
 */
export function storyOf(events: Events): string[] {
  return events
    .filter(({ type }) => type !== "STEP_RETRIED" && type !== "EFFECT_INDOUBT" && type !== "second.seen")
    .map(({ type, payload }) => {
      const { wakeAt: _, ...said } = payload as Record<string, unknown>;
      return `${type} ${JSON.stringify(said)}`;
    })
    .sort();
}
