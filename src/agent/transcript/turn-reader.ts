// Reading turns: rebuilds the requests that turns were given, from the log alone, and says so where it cannot.
//
// D1  What is given back is the request the effect had, or an error: the digest in the form is of all of it.
// D2  Turns that are read in order cost what is new in each, and one copy of the list of messages.

import { type EventEnvelope, type ExecutionState, HeddleError, hasCode } from "../../kernel/index.js";
import type { LlmMessage, LlmRequest } from "../../llm/index.js";
import { messageOf } from "./message-of.js";
import { RebuiltRequest } from "./rebuilt-request.js";
import { isTurnForm, type MessageSource, type TurnForm } from "./turn-form.js";

/** An execution's events, or its state. */
export type TurnLog = readonly EventEnvelope[] | Pick<ExecutionState, "frames" | "decisions">;

/** What a reader has to know of steps. */
export interface RecordedSteps {
  /** What a step was recorded to be given; undefined where there is no such step. */
  inputOf(stepId: string): unknown;
  /** What it completed with; undefined where it did not. */
  outputOf(stepId: string): { readonly output: unknown } | undefined;
  /** What was decided; undefined where nothing was. */
  choiceOf(decisionId: string): { readonly choice: unknown } | undefined;
}

/**
 * The request that a turn of an agent was given, as its model saw it. The log holds a short form of it.
 *
 * @param stepId of the turn, such as "agent:support#turn:3"
 * @throws AGENT_TURN_UNREADABLE for a step that is no turn, and where the log does not hold all that the turn was made of
 */
export function readTurnRequest(log: TurnLog, stepId: string): LlmRequest {
  return new TurnReader("frames" in log ? stepsOfState(log) : stepsOfEvents(log)).request(stepId);
}

export class TurnReader {
  readonly #steps: RecordedSteps;
  /** The one that was read last: the next one mostly builds on it. (D2) */
  #last: { readonly stepId: string; readonly rebuilt: RebuiltRequest } | undefined;

  constructor(steps: RecordedSteps) {
    this.#steps = steps;
  }

  /** @throws AGENT_TURN_UNREADABLE */
  request(stepId: string): LlmRequest {
    const last = this.#last;
    if (last?.stepId === stepId) return last.rebuilt.request();
    this.#last = undefined;
    const chain = new Map<string, TurnForm>();
    let next: string | undefined = stepId;
    while (next !== undefined && next !== last?.stepId) {
      if (chain.has(next)) throw unreadable(stepId, `${next} builds on itself`);
      const form = this.#formAt(next, stepId);
      chain.set(next, form);
      next = form.base;
    }
    const rebuilt = next !== undefined && last ? last.rebuilt : new RebuiltRequest();
    const read = (source: MessageSource): LlmMessage => this.#read(source, stepId);
    for (const form of [...chain.values()].reverse()) rebuilt.advance(form, read);
    if (rebuilt.digest !== chain.get(stepId)?.digest)
      throw unreadable(stepId, "the log does not give what was sent"); // D1
    this.#last = { stepId, rebuilt };
    return rebuilt.request();
  }

  #formAt(stepId: string, asked: string): TurnForm {
    const form = this.#steps.inputOf(stepId);
    if (isTurnForm(form)) return form;
    throw unreadable(
      asked,
      form === undefined ? `there is no step ${stepId}` : `${stepId} is no turn of an agent`,
    );
  }

  #read(source: MessageSource, asked: string): LlmMessage {
    const outputOf = (stepId: string): unknown => {
      const outcome = this.#steps.outputOf(stepId);
      if (outcome) return outcome.output;
      throw unreadable(asked, `step ${stepId} has no result here`);
    };
    const choiceOf = (decisionId: string): unknown => {
      const decision = this.#steps.choiceOf(decisionId);
      if (decision) return decision.choice;
      throw unreadable(asked, `decision ${decisionId} is not here`);
    };
    try {
      return messageOf(source, outputOf, choiceOf);
    } catch (error) {
      if (hasCode(error, "AGENT_TURN_UNREADABLE")) throw error;
      throw unreadable(asked, "a result it is made of cannot be read", error);
    }
  }
}

function unreadable(stepId: string, why: string, cause?: unknown): HeddleError {
  return new HeddleError(
    "AGENT_TURN_UNREADABLE",
    `The request of turn ${stepId} cannot be rebuilt: ${why}.`,
    {
      details: { stepId },
      ...(cause !== undefined && { cause }),
    },
  );
}

function stepsOfState({ frames, decisions }: Pick<ExecutionState, "frames" | "decisions">): RecordedSteps {
  const frameOf = (stepId: string) => (Object.hasOwn(frames, stepId) ? frames[stepId] : undefined);
  return {
    inputOf: (stepId) => frameOf(stepId)?.input,
    outputOf: (stepId) => {
      const frame = frameOf(stepId);
      return frame?.status === "completed" ? { output: frame.output } : undefined;
    },
    choiceOf: (id) => (Object.hasOwn(decisions, id) ? { choice: decisions[id] } : undefined),
  };
}

function stepsOfEvents(events: readonly EventEnvelope[]): RecordedSteps {
  const inputs = new Map<string, unknown>();
  const outputs = new Map<string, { readonly output: unknown }>();
  const choices = new Map<string, { readonly choice: unknown }>();
  for (const { type, payload } of events) {
    if (type === "DECISION_RECORDED") {
      const { decisionId, choice } = payload as { readonly decisionId: string; readonly choice: unknown };
      choices.set(decisionId, { choice });
    }
    if (type !== "STEP_STARTED" && type !== "STEP_COMPLETED") continue;
    const { stepId, input, output } = payload as {
      readonly stepId: string;
      readonly input?: unknown;
      readonly output?: unknown;
    };
    if (type === "STEP_STARTED") inputs.set(stepId, input);
    else outputs.set(stepId, { output });
  }
  return {
    inputOf: (stepId) => inputs.get(stepId),
    outputOf: (stepId) => outputs.get(stepId),
    choiceOf: (id) => choices.get(id),
  };
}
