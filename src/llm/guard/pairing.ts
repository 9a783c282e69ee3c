// Pairing: every call of a tool is answered by one result, before anything else is said, and there is no result without a call.

import type { LlmMessage } from "../message.js";
import { refusal } from "./refusal.js";

export class Pairing {
  /** The calls of the latest assistant message. The value says whether a result has come. */
  #calls = new Map<string, boolean>();
  #open = 0;

  /** @throws LLM_PROMPT_INVALID where this message cannot come next; the pairing is of no use then */
  take(message: LlmMessage, place: string): void {
    if (message.role === "tool") return this.#answer(message.toolCallId, place);
    this.finish(place);
    if (this.#calls.size > 0) this.#calls = new Map();
    if (message.role === "assistant")
      for (const call of message.toolCalls ?? []) this.#expect(call.id, place);
  }

  /** @throws LLM_PROMPT_INVALID where a call has no result yet */
  finish(place: string): void {
    if (this.#open === 0) return;
    const ids = [...this.#calls].filter(([, answered]) => !answered).map(([id]) => JSON.stringify(id));
    throw refusal(
      "callUnanswered",
      place,
      `no result came of ${ids.slice(0, 5).join(", ")} before this. Every call of a tool is answered by one tool message, right after the message that asked for it.`,
    );
  }

  #expect(id: string, place: string): void {
    if (typeof id !== "string" || id === "")
      throw refusal("callIdMissing", place, "a call of a tool has no id.");
    if (this.#calls.has(id))
      throw refusal("callIdTwice", place, `two calls have the id ${JSON.stringify(id)}.`);
    this.#calls.set(id, false);
    this.#open++;
  }

  #answer(id: string, place: string): void {
    const answered = this.#calls.get(id);
    if (answered === undefined)
      throw refusal("resultWithoutCall", place, `the message before has no call ${JSON.stringify(id)}.`);
    if (answered)
      throw refusal("callAnsweredTwice", place, `the call ${JSON.stringify(id)} has its result already.`);
    this.#calls.set(id, true);
    this.#open--;
  }
}
