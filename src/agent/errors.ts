// Errors of agents, and what is thrown at the end of a loop that came to no answer.

import { HeddleError, TypedFailure } from "../kernel/index.js";
import type { AgentInterruption, EmptyReason } from "./result.js";

/** Thrown before anything is recorded: an option of the loop is unknown, malformed, or contradicts another. */
export class AgentLoopConfigError extends HeddleError {
  override name = "AgentLoopConfigError";
  /** The option, as `agentLoop$` takes it. */
  readonly option: string;

  /** @param complaint follows on the name of the option, and has no full stop */
  constructor(option: string, complaint: string) {
    super("AGENT_LOOP_CONFIG_INVALID", `agentLoop$: ${option} ${complaint}.`, { details: { option } });
    this.option = option;
  }
}

/**
 * Thrown before any model is asked: the context becomes plain text, in which a mark of taint would be lost. Hand untrusted text
 * over as `prompt` with a `promptOrigin`, or as a tainted message of `history`.
 */
export class UntrustedContextError extends HeddleError {
  override name = "UntrustedContextError";

  constructor(origin: string) {
    super(
      "AGENT_CONTEXT_UNTRUSTED",
      `agentLoop$: input.context holds a value that is tainted (${origin}). It becomes plain text, where the mark would be lost: ` +
        "give untrusted text as prompt with a promptOrigin, or unwrapTainted() it once it is checked.",
      { details: { origin } },
    );
  }
}

/** The channel on which an agent fails that was stopped by its `signal`. */
export const AGENT_INTERRUPTED = "agentInterrupted";

export function agentInterrupted(interruption: AgentInterruption): TypedFailure {
  const { iterations } = interruption;
  return new TypedFailure(
    AGENT_INTERRUPTED,
    interruption,
    `The agent was interrupted after ${iterations} ${iterations === 1 ? "turn" : "turns"}.`,
  );
}

export function turnLimit(loopId: string, maxIterations: number): HeddleError {
  return new HeddleError(
    "AGENT_TURN_LIMIT",
    `${loopId} took ${maxIterations} turns and gave no answer. Raise maxIterations, or give it less to do.`,
    { details: { loopId, maxIterations } },
  );
}

export function emptyAnswer(loopId: string, turn: number, asked: number, reason: EmptyReason): HeddleError {
  return new HeddleError(
    "AGENT_EMPTY_ANSWER",
    `In turn ${turn} of ${loopId} the model was asked ${asked} times and gave neither an answer nor a call (${reason}).`,
    { details: { loopId, turn, asked, reason } },
  );
}

export function correctionLimit(loopId: string, corrections: number, maxCorrections: number): HeddleError {
  return new HeddleError(
    "AGENT_CORRECTION_LIMIT",
    `The model of ${loopId} got ${corrections} tool calls wrong; maxCorrections is ${maxCorrections}.`,
    { details: { loopId, corrections, maxCorrections } },
  );
}

export function answerInvalid(stepId: string, complaint: string): HeddleError {
  return new HeddleError("AGENT_ANSWER_INVALID", `The answer of the model at ${stepId} ${complaint}.`, {
    details: { stepId },
  });
}
