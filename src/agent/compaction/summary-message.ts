// What stands in a conversation for what was folded.

import { isTainted, tainted } from "../../kernel/index.js";
import type { LlmMessage, LlmText, TextPart, UserMessage, UserPart } from "../../llm/index.js";
import { partsOf } from "../model/user-turns.js";

const HEADING =
  "Summary of this conversation up to here. Its earlier messages are left out. Go on from where it ends.";

/** @param origin where the first text came from that nobody vouches for, in what was folded */
export function summaryMessage(summary: LlmText, origin: string | undefined): UserMessage {
  // A model that has read what it should not believe may repeat it.
  const marked = origin === undefined || isTainted(summary) ? summary : tainted(summary, origin);
  return { role: "user", content: [text(HEADING), text(marked)] };
}

/** The summary, and what the model is about to see, as words of the user: no call, no round of tools, no reasoning. */
export function retoldMessage(summary: UserMessage, rest: readonly LlmMessage[]): UserMessage {
  return { role: "user", content: [...partsOf(summary), ...rest.flatMap(retold)] };
}

function retold(message: LlmMessage): readonly UserPart[] {
  if (message.role === "tool") {
    const { toolName, toolCallId, isError } = message;
    const what = isError ? "The call failed" : "Result";
    return [text(`${what}: ${toolName}, ${toolCallId}`), ...partsOf(message)];
  }
  return partsOf(message);
}

function text(words: LlmText): TextPart {
  return { type: "text", text: words };
}
