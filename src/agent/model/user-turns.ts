// User turns: a reminder and a prompt, or a summary and what follows it, are two messages to whoever wrote them. Strict vendors take one
// turn of the user at a time, so on their way out they are one.

import { isDeepFrozen } from "../../llm/guard/deep-frozen.js";
import type { LlmMessage, LlmRequest, LlmText, UserMessage, UserPart } from "../../llm/index.js";

/** By the first of two that cannot change: what they were joined to before. The prompt boundary knows messages by their identity. */
const JOINED = new WeakMap<UserMessage, { readonly second: UserMessage; readonly joined: UserMessage }>();

/** The same request with no two user messages in a row; the very same where there were none. */
export function inUserTurns(request: LlmRequest): LlmRequest {
  const { messages } = request;
  const isSplit = messages.some(({ role }, i) => role === "user" && messages[i + 1]?.role === "user");
  if (!isSplit) return request;
  const turns: LlmMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.role === "user" && last?.role === "user") turns[turns.length - 1] = joined(last, message);
    else turns.push(message);
  }
  return { ...request, messages: turns };
}

/** Both as one: first what the one says, then the other. */
export function joined(first: UserMessage, second: UserMessage): UserMessage {
  const known = JOINED.get(first);
  if (known?.second === second) return known.joined;
  const content = Object.freeze([...partsOf(first), ...partsOf(second)]);
  const message: UserMessage = Object.freeze({ role: "user", content });
  if (isDeepFrozen(first) && isDeepFrozen(second)) JOINED.set(first, { second, joined: message });
  return message;
}

/** What a message says, as a list of parts. */
export function partsOf({ content }: LlmMessage): readonly UserPart[] {
  return Array.isArray(content)
    ? (content as readonly UserPart[])
    : [
        Object.freeze({
          type: "text",
          text: content as LlmText,
        }),
      ];
}
