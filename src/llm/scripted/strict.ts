// What the strictest of the real providers refuse, said once more and in another way than the guard says it: a conversation that
// passes here is one they take.

import { hasTainted } from "../../kernel/index.js";
import { LlmError } from "../llm-error.js";
import type { LlmMessage } from "../message.js";
import type { LlmRequest } from "../provider.js";

/** @throws LLM_REQUEST_REFUSED, as a provider would answer with status 400 */
export function checkStrictly(provider: string, { messages, system, tools = [] }: LlmRequest): void {
  const refuse = (complaint: string): never => {
    throw new LlmError("LLM_REQUEST_REFUSED", `${provider} (strict) refuses the request: ${complaint}.`, {
      provider,
      details: { status: 400 },
    });
  };
  if (hasTainted(messages) || hasTainted(system) || hasTainted(tools)) refuse("a text in it is no text");
  if (messages[0]?.role !== "user") refuse("it does not begin with a user message");
  if (messages.at(-1)?.role === "assistant") refuse("it ends with an assistant message");
  const ids = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (isSilent(message)) refuse(`${at} is empty`);
    if (message.role === "user" && messages[index + 1]?.role === "user")
      refuse(`two user messages follow at ${at}`);
    if (message.role === "assistant" && messages[index + 1]?.role === "assistant")
      refuse(`two assistant messages follow at ${at}`);
    for (const { id } of callsOf(message)) {
      if (ids.has(id)) refuse(`the id ${id} is taken at ${at}`);
      ids.add(id);
    }
    const wanted = callsOf(message).map(({ id }) => id);
    const after = messages.slice(index + 1);
    const results = after
      .slice(0, runOfResults(after))
      .map((result) => (result as { toolCallId: string }).toolCallId);
    if (message.role !== "tool" && wanted.toSorted().join("\n") !== results.toSorted().join("\n"))
      refuse(`the calls of ${at} and the results after it do not pair`);
  }
  if (new Set(tools.map(({ name }) => name)).size !== tools.length) refuse("two tools have one name");
}

function callsOf(message: LlmMessage) {
  return message.role === "assistant" ? (message.toolCalls ?? []) : [];
}

function runOfResults(messages: readonly LlmMessage[]): number {
  const end = messages.findIndex(({ role }) => role !== "tool");
  return end === -1 ? messages.length : end;
}

function isSilent(message: LlmMessage): boolean {
  if (message.role === "tool" || callsOf(message).length > 0) return false;
  const { content } = message;
  if (Array.isArray(content)) return content.length === 0;
  return typeof content === "string" && content.trim() === "";
}
