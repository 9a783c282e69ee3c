// Where a conversation is cut: pure, from what the log holds of it and nothing else, so that a replay cuts in the same place.
//
// B1  By messages: the newest `keepRecent` stay. By bytes: the longest run of the newest that has at most half of `afterBytes`, at least
//     the newest one, and no more than `keepRecent`. The bytes decide where both are over.
// B2  Calls and their results stay together, or go together. The round that the model is about to see stays.
// B3  A summary is not summarized by itself: nothing is asked of a model where nothing would be folded.
// B4  Vendors take reasoning back in a history that nobody has touched. Where there is some, all of it goes, and what the model is about to
//     see becomes part of one message of the user.

import type { LlmMessage } from "../../llm/index.js";
import type { CompactionSettings } from "./options.js";

/** A conversation as the cut sees it. */
export interface Measured {
  readonly messages: readonly LlmMessage[];
  /** Of all messages. */
  readonly bytes: number;
  /** Of one, by its place. */
  bytesOf(index: number): number;
  /** Whether the message at this place is the summary of an earlier compaction. */
  isSummary(index: number): boolean;
}

export interface Cut {
  /** This one and all later ones stay, the others are summarized. */
  readonly from: number;
  /** "retold": those that stay are summarized too, and stand as words of the user (B4). */
  readonly shape: "tail" | "retold";
}

/** Undefined: it is not time, or there is nothing to fold. */
export function cutOf(conversation: Measured, settings: CompactionSettings): Cut | undefined {
  const { messages, bytes } = conversation;
  const { afterMessages = Infinity, afterBytes = Infinity, keepRecent } = settings;
  if (messages.length <= afterMessages && bytes <= afterBytes) return undefined;
  if (messages.some(hasReasoning)) return retold(conversation);
  const recent = Math.max(0, messages.length - keepRecent);
  const from = bytes > afterBytes ? lightTail(conversation, afterBytes / 2, recent) : recent;
  const aligned = betweenRounds(messages, from);
  return folds(conversation, aligned) ? { from: aligned, shape: "tail" } : undefined;
}

/** B1 */
function lightTail(conversation: Measured, bytesMax: number, earliest: number): number {
  let from = conversation.messages.length - 1;
  let bytes = conversation.bytesOf(from);
  while (from > earliest) {
    bytes += conversation.bytesOf(from - 1);
    if (bytes > bytesMax) break;
    from--;
  }
  return from;
}

/** B2: the place itself, or else the nearest later one that divides no round; in the last round, its beginning. */
function betweenRounds(messages: readonly LlmMessage[], from: number): number {
  let later = from;
  while (messages[later]?.role === "tool") later++;
  return later < messages.length ? later : startOfLastRound(messages);
}

/** B4 */
function retold(conversation: Measured): Cut | undefined {
  const { messages } = conversation;
  const start = startOfLastRound(messages);
  if (!folds(conversation, start)) return undefined;
  const from = messages[start]?.role === "assistant" ? start + 1 : start;
  return { from, shape: "retold" };
}

/** Of the calls whose results are last; where none are, the last message. */
function startOfLastRound(messages: readonly LlmMessage[]): number {
  let start = messages.length - 1;
  while (messages[start]?.role === "tool") start--;
  return Math.max(0, start);
}

/** B3 */
function folds(conversation: Measured, from: number): boolean {
  return from > 1 || (from === 1 && !conversation.isSummary(0));
}

function hasReasoning(message: LlmMessage): boolean {
  return message.role === "assistant" && (message.reasoning?.length ?? 0) > 0;
}
