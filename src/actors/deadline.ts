// Deadlines: what becomes of an execution, or of a step, that is not done in time. When that is stands in the log, and a timer
// there wakes whoever has to see to it.

import { type EventOf, HeddleError, type OpenStep } from "../kernel/index.js";

/** The cancellation of an execution whose deadline has passed. */
export function deadlineCancel(startedAt: number, deadlineAt: number): EventOf<"CANCEL_REQUESTED"> {
  const reason = `Its deadline passed, ${deadlineAt - startedAt} ms after it began.`;
  return { type: "CANCEL_REQUESTED", reason, code: "DEADLINE_EXCEEDED" };
}

/** What a step fails with, and what its last attempt is aborted with. */
export function stepDeadlineError({ stepId, attempt, task }: OpenStep): HeddleError {
  return new HeddleError(
    "EFFECT_DEADLINE_EXCEEDED",
    `Step ${stepId} was not done within its deadline of ${String(task.deadlineMs)} ms, its retries included (attempt ${attempt}).`,
    { details: { stepId, attempt } },
  );
}
