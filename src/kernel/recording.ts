// Recording: the log a run goes along, and how far it has come.
//
// Owns       the position. Events are dropped once all of them are used up: a live run keeps no log in memory.
// Leaves     what an event means, and whether it is the right one, to the run.

import type { EventOf, EventType, ExecutionEvent } from "./events.js";

/** Events that settle something the flow waits for; a cancellation settles all of it that is not shielded. */
export type OutcomeEvent = EventOf<
  | "STEP_COMPLETED"
  | "STEP_FAILED"
  | "DECISION_RECORDED"
  | "DECISION_FAILED"
  | "GATE_EVENT"
  | "GATE_TIMED_OUT"
  | "TIMER_FIRED"
  | "CANCEL_REQUESTED"
>;

const OUTCOMES: ReadonlySet<EventType> = new Set<OutcomeEvent["type"]>([
  "STEP_COMPLETED",
  "STEP_FAILED",
  "DECISION_RECORDED",
  "DECISION_FAILED",
  "GATE_EVENT",
  "GATE_TIMED_OUT",
  "TIMER_FIRED",
  "CANCEL_REQUESTED",
]);

/** Entries nobody requested in the flow's code and nobody waits for: they tell readers what happened in between. */
const MARKERS: ReadonlySet<EventType> = new Set([
  "EXECUTION_RESUMED",
  "STEP_RETRIED",
  "EFFECT_EVENT",
  "EFFECT_INDOUBT",
  "EFFECT_METERED",
  "QUOTA_EXCEEDED",
  "OUTCOME_LATE",
]);

const NO_EVENTS: readonly ExecutionEvent[] = [];

/** Hears of the markers that say how a step in flight stands. */
export interface AttemptListener {
  noteRetry(retry: EventOf<"STEP_RETRIED">): void;
  noteInDoubt(doubt: EventOf<"EFFECT_INDOUBT">): void;
}

export class Recording {
  #events: readonly ExecutionEvent[];
  /** Of the entry that is next. The first, EXECUTION_STARTED, is what starts a run. */
  #position = 1;

  constructor(events: readonly ExecutionEvent[]) {
    this.#events = events;
    if (events.length === 1) this.#events = NO_EVENTS;
  }

  get isUsedUp(): boolean {
    return this.#position >= this.#events.length;
  }

  get position(): number {
    return this.#position;
  }

  /** The entry that is next, past the markers; undefined once the log is used up. Attempts on the way are told. */
  next(listener: AttemptListener): ExecutionEvent | undefined {
    for (; !this.isUsedUp; this.#position++) {
      const recorded = this.#events[this.#position]!;
      if (!MARKERS.has(recorded.type)) return recorded;
      if (recorded.type === "STEP_RETRIED") listener.noteRetry(recorded);
      else if (recorded.type === "EFFECT_INDOUBT") listener.noteInDoubt(recorded);
    }
    this.#events = NO_EVENTS;
    return undefined;
  }

  /** The entry that is next was met. */
  accept(): void {
    this.#position++;
  }
}

export function isOutcome(event: ExecutionEvent): event is OutcomeEvent {
  return OUTCOMES.has(event.type);
}
