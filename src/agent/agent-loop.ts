// agentLoop$: an agent as a function a flow calls. Each request to a model and each call of a tool is a step of the flow, so a
// crash costs what was under way and nothing else.
//
// L1  Ids follow from the log alone: `<loop>#turn:<i>` for the model, `<loop>#turn:<i>:tool:<j>` for its j-th call.
// L2  Whatever ends a loop, its conversation answers every call exactly once, in the order of the calls.

import { contained, type ExecutionContext, taintOrigin } from "../kernel/index.js";
import type { LlmText } from "../llm/index.js";
import { keepConversation } from "./conversation-of.js";
import { turnLimit } from "./errors.js";
import { type AgentLoopConfig, type AgentLoopInput, checkLoopInput, readLoopConfig } from "./loop-config.js";
import { writeBack } from "./memory/write-back.js";
import type { AgentResult } from "./result.js";
import { answerCalls } from "./tools/answer-calls.js";
import { askModel } from "./turn/ask-model.js";
import { beginRun, promptOf } from "./turn/begin-run.js";
import type { AgentRun } from "./turn/run.js";

/**
 * Runs an agent until it answers.
 *
 * @param input without a prompt and without a history the agent is told to begin
 * @throws AgentLoopConfigError and UntrustedContextError before any model is asked; AGENT_TURN_LIMIT, AGENT_EMPTY_ANSWER and
 * AGENT_CORRECTION_LIMIT for an agent that comes to no answer; a TypedFailure on `agentInterrupted` when its signal stops it; what
 * the model fails with, and what its tools fail with where that is not for the model to hear
 */
export function agentLoop$(
  ctx: ExecutionContext,
  config: AgentLoopConfig,
  input: AgentLoopInput = {},
): Promise<AgentResult> {
  return contained(runAgent(ctx, config, input));
}

async function runAgent(
  ctx: ExecutionContext,
  config: AgentLoopConfig,
  input: AgentLoopInput,
): Promise<AgentResult> {
  const settings = readLoopConfig(config);
  checkLoopInput(input);
  const run = await beginRun(ctx, settings, input, agentLoop$);
  try {
    const result = await takeTurns(run);
    await remember(run, promptOf(input), result.content);
    return keepConversation(result, run.conversation.messages);
  } catch (error) {
    throw keepConversation(error, run.conversation.messages);
  }
}

async function takeTurns(run: AgentRun): Promise<AgentResult> {
  const { maxIterations } = run.settings;
  while (run.iterations < maxIterations) {
    const turn = await askModel(run);
    if (!turn.message.toolCalls) return run.result(turn.response);
    await answerCalls(run, turn);
  }
  throw turnLimit(run.loopId, maxIterations);
}

async function remember(run: AgentRun, prompt: LlmText | undefined, answer: string): Promise<void> {
  const { memory, writeBack: how } = run.settings;
  if (!how) return;
  const taintedBy = taintOrigin(run.conversation.messages);
  await writeBack(run.ctx, run.loopId, memory, how, { prompt, answer, taintedBy });
}
