// VerdictCommit: a verdict on a step in doubt for an execution that nobody runs: what has to be written so that whoever opens
// the log next goes on from there. Pure; the write is its caller's, who owns the partition.
//
// V1  The event is the one a running actor would append, but for V2, and nothing else is.
// V2  The execution is filed as running, so that the next opening takes it up. The attempt of a `retry` is armed as a timer that is
//     due: a step that waits for its timer is known not to have been dispatched, so it is not in doubt again ("decided").
// V3  What the flow's code alone knows is not done: an outcome is not parsed by the step's schema, and what that marks as
//     sensitive is not sealed.

import {
  type ExecutionCommit,
  type ExecutionEvent,
  type ExecutionHeader,
  type FoldedFrame,
  fold,
  isTerminal,
  type LogRecord,
} from "../kernel/index.js";
import { endedError } from "./actor.js";
import { notInDoubt } from "./in-doubt.js";
import type { Verdict } from "./messages.js";
import { RETRY_TIMER } from "./timer-names.js";
import { setAsideError } from "./watchers.js";

export interface OutsideVerdict {
  readonly header: ExecutionHeader;
  /** The whole log. */
  readonly records: readonly LogRecord[];
  readonly stepId: string;
  readonly verdict: Verdict;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** @throws EXECUTION_ENDED, EXECUTION_SET_ASIDE, STEP_NOT_IN_DOUBT */
export function verdictCommit({ header, records, stepId, verdict, now }: OutsideVerdict): ExecutionCommit {
  if (isTerminal(header.status)) throw endedError(header.id, header.status);
  if (header.aside) throw setAsideError(header.id, header.aside);
  const { frames, sequence } = fold(records);
  const frame = frames[stepId];
  if (frame?.status !== "inDoubt") throw notInDoubt(header.id, stepId);
  const retryAt = { wakeAt: now, key: header.key, gateId: RETRY_TIMER + stepId };
  return {
    header: { ...header, status: "running", sequence: sequence + 1, updatedAt: now },
    created: false,
    refile: { from: header.status },
    record: { sequence: sequence + 1, timestamp: now, events: [eventOf(frame, verdict, now)] },
    arm: verdict.kind === "retry" ? [retryAt] : [],
    disarm: [],
  };
}

function eventOf({ stepId, attempts }: FoldedFrame, verdict: Verdict, now: number): ExecutionEvent {
  switch (verdict.kind) {
    case "outcome":
      return { type: "STEP_COMPLETED", stepId, output: verdict.output };
    case "fail":
      return { type: "STEP_FAILED", stepId, error: verdict.error, channel: undefined, payload: undefined };
    case "retry":
      return {
        type: "STEP_RETRIED",
        stepId,
        attempt: attempts + 1,
        reason: "decided",
        dueAt: now,
        error: undefined,
      };
  }
}
