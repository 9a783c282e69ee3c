// Driving an execution from outside, step by step, and keeping what it wrote.

import type { ExecutionHandle } from "../../actors/index.js";
import type { ResumeRequest } from "../../actors/messages.js";
import { type EventEnvelope, type EventStore, type ExecutionState, HeddleError } from "../../kernel/index.js";

/** Lets a started execution run to its next gate. Rejects with EXECUTION_ENDED when it ends without one. */
export function driveToSuspend(handle: ExecutionHandle): Promise<ExecutionState> {
  return handle.waitForSuspend();
}

/** What `resumeWith` needs of a runtime. */
export interface Resumable {
  loadState(executionId: string): Promise<ExecutionState>;
  resume(executionId: string, request: ResumeRequest): Promise<ExecutionHandle>;
}

/**
 * Answers the gate an execution waits at: by its name, which is the default for `eventType`, and with `payload`.
 *
 * @throws GATE_NOT_OPEN where no gate is open, GATE_AMBIGUOUS where several names are and none is given; what `resume` throws
 */
export async function resumeWith(
  runtime: Resumable,
  executionId: string,
  event: Partial<ResumeRequest> = {},
): Promise<ExecutionHandle> {
  const { eventType = await onlyGate(runtime, executionId) } = event;
  return runtime.resume(executionId, { ...event, eventType });
}

async function onlyGate(runtime: Resumable, executionId: string): Promise<string> {
  const { gates } = await runtime.loadState(executionId);
  const open = Object.values(gates).filter(({ kind, status }) => kind === "event" && status === "open");
  const [name, ...others] = new Set(open.map(({ on }) => on));
  if (name === undefined)
    throw new HeddleError("GATE_NOT_OPEN", `Execution ${executionId} waits at no gate.`, {
      details: { executionId },
    });
  if (others.length > 0)
    throw new HeddleError(
      "GATE_AMBIGUOUS",
      `Execution ${executionId} waits at several gates: name one of them, resumeWith(runtime, id, { eventType }). Open are ${[name, ...others].join(", ")}.`,
      { details: { executionId } },
    );
  return name;
}

/**
 * The log of an execution as it stands, for a test to compare or to keep in a file.
 *
 * @throws EXECUTION_UNKNOWN
 */
export async function captureGolden(eventStore: EventStore, executionId: string): Promise<EventEnvelope[]> {
  const events = await eventStore.read(executionId);
  if (events.length > 0) return events;
  throw new HeddleError("EXECUTION_UNKNOWN", `There is no execution ${executionId}.`, {
    details: { executionId },
  });
}
