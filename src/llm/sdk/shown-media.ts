import type { GuardedMessage, GuardedPart, GuardedUserMessage } from "../guard/guarded.js";
import { partsIn } from "./content.js";

/**
 * The same conversation for vendors whose results of tools are text: what else a tool has to show follows its turn's results, in a message of
 * the user's.
 */
export function* withMediaBesideResults(messages: readonly GuardedMessage[]): Generator<GuardedMessage> {
  let shown: GuardedPart[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const parts = partsIn(message.content);
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

function userMessage(content: readonly GuardedPart[]): GuardedUserMessage {
  return { role: "user", content };
}
