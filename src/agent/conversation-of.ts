// The conversation of a loop that has ended, for another one to go on with. It is no part of what a loop gives back, for that may
// be recorded, and the log holds every message already.

import type { LlmMessage } from "../llm/index.js";

const conversations = new WeakMap<object, readonly LlmMessage[]>();

export function keepConversation<T>(end: T, messages: readonly LlmMessage[]): T {
  if (typeof end === "object" && end !== null) conversations.set(end, messages);
  return end;
}

/**
 * All messages of a loop: what it was given, what was said, and exactly one answer to every call. As `history` of another loop it is
 * one that every provider takes.
 *
 * @param end what `agentLoop$` gave or threw, in the flow that called it; undefined for anything else
 */
export function conversationOf(end: unknown): readonly LlmMessage[] | undefined {
  return typeof end === "object" && end !== null ? conversations.get(end) : undefined;
}
