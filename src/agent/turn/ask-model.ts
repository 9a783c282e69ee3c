// Asking the model: one turn's request, its answer, and what becomes of an answer that says nothing.

import { z } from "zod";
import { type ExecutableTask, hasCode, TypedFailure } from "../../kernel/index.js";
import type { AssistantMessage, LlmResponse } from "../../llm/index.js";
import { compactIfDue } from "../compaction/compact.js";
import type { CompactionSettings } from "../compaction/options.js";
import { AGENT_INTERRUPTED, emptyAnswer } from "../errors.js";
import { type Answered, askRoutes } from "../routing/ask-routes.js";
import type { TurnForm } from "../transcript/turn-form.js";
import { assistantMessage, emptinessOf, readAnswer } from "./answer.js";
import type { AgentRun } from "./run.js";

export interface Turn {
  readonly response: LlmResponse;
  /** As the conversation has it. */
  readonly message: AssistantMessage;
}

/** A model that is stopped may say so on this channel, with the text it had. */
const CHANNELS = { [AGENT_INTERRUPTED]: z.looseObject({ content: z.string() }) };

/**
 * Begins a turn, and adds its answer to the conversation.
 *
 * @throws agentInterrupted when the agent was stopped meanwhile; AGENT_EMPTY_ANSWER; whatever the model fails with
 */
export async function askModel(run: AgentRun): Promise<Turn> {
  run.beginTurn();
  if (run.settings.compaction) await compact(run, run.settings.compaction);
  else run.warnOfSize();
  let stepId = run.turnId;
  for (let asked = 1; ; asked++) {
    const { response, heldAt } = await answerAt(run, stepId);
    run.count(response.usage);
    const emptiness = emptinessOf(response);
    if (emptiness === undefined) {
      const message = run.identified(assistantMessage(response));
      if (heldAt === undefined) run.conversation.say(message);
      else run.conversation.answer(heldAt, response, message);
      return { response, message };
    }
    if (asked > run.settings.maxEmptyAnswers) throw emptyAnswer(run.loopId, run.turn, asked, emptiness);
    stepId = `${run.turnId}:again:${asked}`;
  }
}

/** What the turn would carry once more gives way to a summary, where that is due. */
async function compact(run: AgentRun, settings: CompactionSettings): Promise<void> {
  const { signal } = run.settings;
  try {
    await compactIfDue(run.ctx, run.turnId, run.conversation, { settings, signal });
  } catch (error) {
    throw isStop(error) ? run.interrupted("") : error;
  }
}

interface Answer {
  readonly response: LlmResponse;
  /** The step that holds it, if one does. */
  readonly heldAt: string | undefined;
}

async function answerAt(run: AgentRun, stepId: string): Promise<Answer> {
  let answered: Answered;
  try {
    const { reasoning, modelToolId } = run.settings;
    answered = reasoning
      ? await askRoutes(run, reasoning, stepId, (id, toolId) => askInStep(run, id, toolId))
      : { heldAt: stepId, given: await askInStep(run, stepId, modelToolId!) };
  } catch (error) {
    throw isStop(error) ? run.interrupted(saidBefore(error)) : error;
  }
  const response = readAnswer(stepId, answered.given);
  if (response.interrupted) throw run.interrupted(response.content);
  return { response, heldAt: answered.heldAt };
}

function askInStep(run: AgentRun, stepId: string, toolId: string): Promise<unknown> {
  const { turnTimeoutMs, signal } = run.settings;
  const { form, expand } = run.conversation.turn(stepId, run.system, run.menu.specs);
  const task: ExecutableTask<TurnForm> = {
    id: stepId,
    kind: "llm",
    toolId,
    errors: CHANNELS,
    expand,
    ...(turnTimeoutMs !== undefined && { timeoutMs: turnTimeoutMs }),
    ...(signal && { signal }),
  };
  return run.ctx.execute(task, form);
}

/** Whether a call ended because the agent was told to stop. */
export function isStop(error: unknown): boolean {
  if (error instanceof TypedFailure) return error.channel === AGENT_INTERRUPTED;
  return hasCode(error, "STEP_STOPPED");
}

/** The text a call had given when it was stopped. */
export function saidBefore(error: unknown): string {
  if (!(error instanceof TypedFailure)) return "";
  const { content } = error.payload as { readonly content?: unknown };
  return typeof content === "string" ? content : "";
}
