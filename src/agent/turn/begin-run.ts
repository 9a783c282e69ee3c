// The beginning of a run: what the model knows before its first turn.

import { type ExecutionContext, tainted, taintOrigin } from "../../kernel/index.js";
import type { LlmMessage, LlmText, UserMessage } from "../../llm/index.js";
import { AgentLoopConfigError, UntrustedContextError } from "../errors.js";
import type { AgentLoopInput, LoopSettings } from "../loop-config.js";
import { recall } from "../memory/recall.js";
import { joined } from "../model/user-turns.js";
import { openRun } from "./opening.js";
import { AgentRun, type RunAgent } from "./run.js";

/** What an agent is told that is told nothing. */
const BEGIN = "Begin.";

/** @throws UntrustedContextError */
export async function beginRun(
  ctx: ExecutionContext,
  settings: LoopSettings,
  input: AgentLoopInput,
  runAgent: RunAgent,
): Promise<AgentRun> {
  const { memory, recallLimit: limit } = settings;
  const prompt = promptOf(input);
  const opening = await openRun(ctx, settings, {
    system: settings.systemPrompt ?? settings.definition.systemPrompt,
    context: factsOf(input),
    prompt: prompt ?? "",
  });
  const run = new AgentRun(ctx, settings, opening, runAgent);
  const recalled = memory && (await recall(ctx, run.loopId, memory, { limit, prompt }));
  run.begin(firstMessages(input, recalled));
  return run;
}

/**
 * What a conversation begins with.
 *
 * @param recalled comes first, and is part of what the user says there
 */
export function firstMessages(input: AgentLoopInput, recalled?: UserMessage): readonly LlmMessage[] {
  const { history = [] } = input;
  const prompt = promptOf(input);
  const said: LlmMessage[] = [...history];
  if (prompt !== undefined) said.push({ role: "user", content: prompt });
  else if (history.length === 0) said.push({ role: "user", content: BEGIN });
  if (!recalled) return said;
  const [first, ...rest] = said;
  return first?.role === "user" ? [joined(recalled, first), ...rest] : [recalled, ...said];
}

export function promptOf({ prompt, promptOrigin }: AgentLoopInput): LlmText | undefined {
  return typeof prompt === "string" && promptOrigin !== undefined ? tainted(prompt, promptOrigin) : prompt;
}

/** @throws UntrustedContextError, and AgentLoopConfigError for what JSON has no form for */
export function factsOf({ context }: AgentLoopInput): string | undefined {
  if (context === undefined) return undefined;
  const origin = taintOrigin(context);
  if (origin !== undefined) throw new UntrustedContextError(origin);
  return `Context:\n${asJson(context)}`;
}

function asJson(context: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(context);
  } catch {
    json = undefined;
  }
  if (json !== undefined) return json;
  throw new AgentLoopConfigError("input.context", "must be something that JSON has a form for");
}
