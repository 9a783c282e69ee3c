// A turn whose model is chosen. Through effects each call is a step, as it is with one model; without them the runtime asks the
// providers itself and the answer is a decision.

import { hasCode, TypedFailure } from "../../kernel/index.js";
import type { LlmResponse } from "../../llm/index.js";
import { AGENT_INTERRUPTED } from "../errors.js";
import { requestOf } from "../transcript/request-of.js";
import { readAnswer } from "../turn/answer.js";
import type { AgentRun } from "../turn/run.js";
import { routeToolId, type TurnReasoner, tierStepId } from "./turn-reasoner.js";

/** Runs a step that asks one model. */
export type AskStep = (stepId: string, toolId: string) => Promise<unknown>;

export interface Answered {
  readonly given: unknown;
  /** The step that holds it. Undefined: a decision does. */
  readonly heldAt: string | undefined;
}

/**
 * @throws a TypedFailure on `agentInterrupted`, with what had been said, where the agent was stopped
 */
export async function askRoutes(
  run: AgentRun,
  reasoner: TurnReasoner,
  stepId: string,
  ask: AskStep,
): Promise<Answered> {
  const { reasoningToolId, signal } = run.settings;
  const request = requestOf([...run.conversation.messages], run.system, run.menu.specs);
  const recording = { decide: run.ctx.decide, id: stepId };
  if (reasoningToolId === undefined) {
    try {
      const given = await reasoner.reason(request, { ...recording, ...(signal && { signal }) });
      return { given, heldAt: undefined };
    } catch (error) {
      // Nobody else stops such a call; and a replay, which has no signal any more, is served the failure.
      throw hasCode(error, "LLM_ABORTED") ? stopped("") : error;
    }
  }
  let heldAt = stepId;
  const call = async (routeId: string, attempt: number): Promise<LlmResponse> => {
    heldAt = tierStepId(stepId, attempt);
    const response = readAnswer(heldAt, await ask(heldAt, routeToolId(reasoningToolId, routeId)));
    if (response.interrupted) throw stopped(response.content);
    return response;
  };
  return { given: await reasoner.reason(request, { ...recording, call }), heldAt };
}

function stopped(content: string): TypedFailure {
  return new TypedFailure(AGENT_INTERRUPTED, { content });
}
