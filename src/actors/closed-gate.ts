// ClosedGate: what to tell a resume that found no open gate of its name. The log knows: the gate may have been closed by
// this very request (a repeat), by another one or by its timeout, or it may never have been opened.

import { type ExecutionState, HeddleError, isTerminal } from "../kernel/index.js";
import { endedError } from "./actor.js";
import type { ResumeRequest } from "./messages.js";

const CLOSED_BY = { timedOut: "its timeout", cancelled: "the cancellation of the execution" } as const;

/** Undefined when the resume is a repeat of the one that was recorded, and so a success; otherwise what went wrong. */
export function explainClosedGate(state: ExecutionState, request: ResumeRequest): HeddleError | undefined {
  const { executionId } = state;
  const { eventType, requestId } = request;
  const named = Object.values(state.gates).filter(
    (gate) =>
      gate.kind === "event" &&
      gate.on === eventType &&
      (request.gateId === undefined || gate.gateId === request.gateId) &&
      (request.correlationKey === undefined || gate.correlationKey === request.correlationKey),
  );
  if (requestId !== undefined && named.some((gate) => gate.requestId === requestId)) return undefined;
  const hasEnded = isTerminal(state.status);
  const closed = named.findLast(({ status }) => status !== "open" && !(hasEnded && status === "cancelled"));
  if (closed) {
    const by =
      closed.status === "timedOut" || closed.status === "cancelled"
        ? CLOSED_BY[closed.status]
        : closed.requestId
          ? `request ${closed.requestId}`
          : "another resume";
    return new HeddleError(
      "GATE_ALREADY_RESOLVED",
      `The gate ${closed.gateId} of execution ${executionId} was already resolved by ${by}.`,
      {
        details: {
          executionId,
          eventType,
          gateId: closed.gateId,
          resolvedBy: closed.requestId,
          timedOut: closed.status === "timedOut",
          at: closed.closedAt,
        },
      },
    );
  }
  if (hasEnded) return endedError(executionId, state.status);
  const open = Object.values(state.gates).filter((gate) => gate.kind === "event" && gate.status === "open");
  const waits =
    open.length > 0
      ? `It waits for ${open.map((gate) => `${gate.on} (gate ${gate.gateId})`).join(", ")}.`
      : "No gate is open; wait for it with waitForSuspend().";
  return new HeddleError(
    "GATE_NOT_OPEN",
    `Execution ${executionId} does not wait for ${eventType}. ${waits}`,
    {
      details: { executionId, eventType, open: open.map((gate) => gate.gateId) },
    },
  );
}
