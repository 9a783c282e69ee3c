import type { GuardedMessage, GuardedPart, GuardedUserMessage } from "../guard/guarded.js";

/**
 * The same conversation for vendors whose results of tools are text: what else a tool has to show follows its turn's results, in a message of
 * the user's.
 */
export function* withMediaBesideResults(messages: readonly GuardedMessage[]): Generator<GuardedMessage> {
  let shown: GuardedPart[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const parts = typeof message.content === "string" ? [] : message.content;
      const media = parts.filter((part) => part.type !== "text");
      yield media.length === 0
        ? message
        : { ...message, content: parts.filter((part) => part.type === "text") };
      if (media.length > 0)
        shown.push({ type: "text", text: `Shown by the call ${message.toolCallId}:` }, ...media);
      continue;
    }
    if (shown.length > 0) yield userMessage(shown);
    shown = [];
    yield message;
  }
  if (shown.length > 0) yield userMessage(shown);
}

export function textOf(content: string | readonly GuardedPart[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
}

function userMessage(content: readonly GuardedPart[]): GuardedUserMessage {
  return { role: "user", content };
}
