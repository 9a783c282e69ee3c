// The beginning of a run: what the model knows before its first turn.

import { type ExecutionContext, tainted, taintOrigin } from "../../kernel/index.js";
import type { LlmMessage, LlmText, UserMessage } from "../../llm/index.js";
import { UntrustedContextError } from "../errors.js";
import type { AgentLoopInput, LoopSettings } from "../loop-config.js";
import { recall } from "../memory/recall.js";
import { joined } from "../model/user-turns.js";
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
  const run = new AgentRun(ctx, settings, systemPrompt(settings, input), runAgent);
  const { memory, recallLimit: limit } = settings;
  const prompt = promptOf(input);
  const recalled = memory && (await recall(ctx, run.loopId, memory, { limit, prompt }));
  for (const message of opening(recalled, input, prompt)) {
    if (message.role === "assistant") run.reserveIds(message);
    run.conversation.say(message);
  }
  return run;
}

/** What was recalled comes first, and is part of what the user says there. */
function opening(
  recalled: UserMessage | undefined,
  { history = [] }: AgentLoopInput,
  prompt: LlmText | undefined,
): readonly LlmMessage[] {
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

function systemPrompt(
  { systemPrompt, definition }: LoopSettings,
  { context }: AgentLoopInput,
): string | undefined {
  const system = systemPrompt ?? definition.systemPrompt;
  if (context === undefined) return system;
  const origin = taintOrigin(context);
  if (origin !== undefined) throw new UntrustedContextError(origin);
  const facts = `Context:\n${JSON.stringify(context)}`;
  return system === undefined ? facts : `${system}\n\n${facts}`;
}
