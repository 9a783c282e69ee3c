// Doubts: the steps of an execution that wait for a verdict, with what a person needs to look into the world: what was asked,
// when, under which key.

import type { Wire } from "../kernel/codec/index.js";
import type { ExecutionEvent } from "../kernel/events.js";
import { fold } from "../kernel/fold.js";
import { idempotencyKeyOf } from "../kernel/ids.js";
import { type FoldedState, initialState } from "../kernel/state.js";
import type { ExecutionPlace, LogInspector } from "../kernel/store/lmdb/log-inspector.js";
import { type ReadEvent, readEvents } from "./read-events.js";

export interface Doubt {
  readonly executionId: string;
  readonly stepId: string;
  readonly toolId: string;
  readonly input: Wire;
  /** Of the attempt that is in doubt. */
  readonly attempt: number;
  /** What its effect was told; whoever it called may know it. */
  readonly idempotencyKey: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** How its outcome was lost, when that is known: its thread ended, and not the whole process. */
  readonly error: Wire;
}

export interface ReadDoubts {
  readonly state: FoldedState;
  readonly doubts: readonly Doubt[];
  /** What could not be read; what follows it cannot be folded. */
  readonly unreadable: Extract<ReadEvent, { kind: "unreadable" }> | undefined;
}

export async function readDoubts(
  log: LogInspector,
  place: ExecutionPlace,
  signal: AbortSignal,
): Promise<ReadDoubts> {
  const asked = new Map<string, Asked>();
  let state = initialState();
  for await (const events of readEvents(log, place, { signal })) {
    for (const read of events) {
      if (read.kind === "unreadable") return { state, doubts: [], unreadable: read };
      const { sequence, timestamp, event } = read;
      state = fold([{ sequence, timestamp, events: [event] }], state);
      note(asked, event, timestamp);
    }
  }
  const doubts = Object.values(state.frames).flatMap(({ stepId, status, input, attempts }): Doubt[] => {
    const step = asked.get(stepId);
    if (status !== "inDoubt" || !step) return [];
    const { toolId, issues, since, error } = step;
    const idempotencyKey = idempotencyKeyOf(place.id, stepId, issues);
    return [
      { executionId: place.id, stepId, toolId, input, attempt: attempts, idempotencyKey, since, error },
    ];
  });
  return { state, doubts, unreadable: undefined };
}

/** What the folded state does not keep of a step. */
interface Asked {
  readonly toolId: string;
  /** An id that failed may be issued again, as another request to the world. */
  readonly issues: number;
  readonly since: number;
  readonly error: Wire;
}

function note(asked: Map<string, Asked>, event: ExecutionEvent, timestamp: number): void {
  if (event.type === "STEP_STARTED") {
    const { stepId, toolId = stepId } = event;
    const issues = (asked.get(stepId)?.issues ?? 0) + 1;
    asked.set(stepId, { toolId, issues, since: timestamp, error: undefined });
  } else if (event.type === "EFFECT_INDOUBT") {
    const step = asked.get(event.stepId);
    if (step) asked.set(event.stepId, { ...step, since: timestamp, error: event.error });
  }
}
