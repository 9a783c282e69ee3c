// Errors a flow meets: made here so that their words stand together, apart from the machinery that throws them.

import { HeddleError, TypedFailure } from "./errors.js";
import type { EventOf } from "./events.js";
import { hidePayload, type Secrecy } from "./secrets/index.js";

export function contextMisused(executionId: string): HeddleError {
  return new HeddleError(
    "CONTEXT_MISUSED",
    `ctx of execution ${executionId} was used outside its flow's turn. Inside a step's body use the second argument of ` +
      "the handler instead; in the flow await only what ctx gave you, and wrap other awaits in a step or ctx.decide.",
    { details: { executionId } },
  );
}

export function foreignAwait(executionId: string): HeddleError {
  return new HeddleError(
    "FOREIGN_AWAIT",
    `The flow of execution ${executionId} waits for something its log does not know: it is no step, gate, timer or ` +
      "decision. Move I/O and timers of the flow's body into a step, ctx.sleep or ctx.decide.",
    { details: { executionId } },
  );
}

/** What a flow meets when its execution is cancelled: once, as the rejection of whatever it waits for. */
export function cancelled(executionId: string, { reason, code }: EventOf<"CANCEL_REQUESTED">): HeddleError {
  const error = new HeddleError("CANCELLED", `Execution ${executionId} is being cancelled: ${reason}`, {
    details: { executionId, reason, ...(code !== undefined && { code }) },
  });
  error.stack = `${error.name}: ${error.message}`; // as of gateTimedOut
  return error;
}

export function idReused(executionId: string, id: string): HeddleError {
  return new HeddleError(
    "STEP_ID_REUSED",
    `Execution ${executionId} issued the id ${id} a second time in one run. Ids name results: in a loop or a branch give ` +
      `each issue its own, for example \`\${id}#\${i}\` (${id}#1).`,
    { details: { executionId, id } },
  );
}

/** The failure as the flow catches it. Its message and stack are the recorded ones, the same on every replay. */
export function typedFailure(
  channel: string,
  { payload, error }: EventOf<"STEP_FAILED">,
  secrecy: Secrecy,
): TypedFailure {
  const recorded = secrecy.reveal(error);
  const failure = new TypedFailure(
    channel,
    secrecy.reveal(payload),
    recorded instanceof Error ? recorded.message : undefined,
  );
  if (recorded instanceof Error && recorded.stack !== undefined) failure.stack = recorded.stack;
  if (secrecy.hasSecrets) hidePayload(failure);
  return failure;
}

export function gateTimedOut({ on, gateId }: EventOf<"GATE_TIMED_OUT">): HeddleError {
  const details = { on, gateId };
  const error = new HeddleError("GATE_TIMED_OUT", `Nobody resolved the gate ${on} within its timeout.`, {
    details,
  });
  // Where it was made says nothing about the flow, and differs between a live run and a replay.
  error.stack = `${error.name}: ${error.message}`;
  return error;
}
