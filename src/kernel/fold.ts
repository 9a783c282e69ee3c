// Fold: an execution's state as a pure function of its log.
//
// The status while running is derived, not recorded: an execution is suspended when a gate is open, or a step in doubt, and
// nothing else is in flight. That makes "parked" a fact of the log which every reader computes alike, the command line included.

import {
  EVENT_KINDS,
  type EventOf,
  type EventPosition,
  type EventType,
  type ExecutionEvent,
} from "./events.js";
import { type FoldedState, initialState } from "./state.js";
import type { LogRecord } from "./store/index.js";

/** Folds records onto `state`, which this call then owns and returns. Records must follow on from it without a gap. */
export function fold(
  records: Iterable<LogRecord>,
  state: FoldedState = initialState(),
  upTo = Infinity,
): FoldedState {
  for (const record of records) {
    let sequence = record.sequence;
    for (const event of record.events) {
      if (sequence > upTo) return state;
      foldEvent(state, event, { sequence, timestamp: record.timestamp });
      sequence++;
    }
  }
  return state;
}

function foldEvent(state: FoldedState, event: ExecutionEvent, at: EventPosition): void {
  applyKind(event.type, state, event, at);
  if (state.status === "running" || state.status === "suspended") {
    const { openSteps, inDoubtSteps, openGates } = state;
    state.status = openSteps === inDoubtSteps && openGates + inDoubtSteps > 0 ? "suspended" : "running";
  }
  state.sequence = at.sequence;
  state.updatedAt = at.timestamp;
}

// The pairing of a kind with its own row, which the compiler can follow through a type parameter only.
function applyKind<K extends EventType>(
  type: K,
  state: FoldedState,
  event: ExecutionEvent,
  at: EventPosition,
): void {
  EVENT_KINDS[type].fold(state, event as EventOf<K>, at);
}
