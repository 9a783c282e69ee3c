// The beginning of a run: what the model knows before its first turn.

import { type ExecutionContext, tainted, taintOrigin } from "../../kernel/index.js";
import type { LlmText } from "../../llm/index.js";
import { UntrustedContextError } from "../errors.js";
import type { AgentLoopInput, LoopSettings } from "../loop-config.js";
import { AgentRun, type RunAgent } from "./run.js";

/** What an agent is told that is told nothing. */
const BEGIN = "Begin.";

/** @throws UntrustedContextError */
export function beginRun(
  ctx: ExecutionContext,
  settings: LoopSettings,
  input: AgentLoopInput,
  runAgent: RunAgent,
): AgentRun {
  const run = new AgentRun(ctx, settings, systemPrompt(settings, input), runAgent);
  const { history = [] } = input;
  for (const message of history) {
    if (message.role === "assistant") run.reserveIds(message);
    run.conversation.add(message);
  }
  const prompt = promptOf(input);
  if (prompt !== undefined) run.conversation.add({ role: "user", content: prompt });
  else if (history.length === 0) run.conversation.add({ role: "user", content: BEGIN });
  return run;
}

function promptOf({ prompt, promptOrigin }: AgentLoopInput): LlmText | undefined {
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
