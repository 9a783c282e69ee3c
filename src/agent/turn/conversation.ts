// Conversation: the messages so far, and the request that the next turn makes of them.

import type { LlmMessage, LlmRequest, LlmToolSpec } from "../../llm/index.js";

export class Conversation {
  readonly #messages: LlmMessage[] = [];
  bytes = 0;

  get messages(): readonly LlmMessage[] {
    return this.#messages;
  }

  add(message: LlmMessage): void {
    this.#messages.push(message);
    this.bytes += Buffer.byteLength(JSON.stringify(message.content));
  }

  request(system: string | undefined, tools: readonly LlmToolSpec[]): LlmRequest {
    return {
      messages: this.#messages,
      ...(system !== undefined && { system }),
      ...(tools.length > 0 && { tools }),
    };
  }
}
