// LlmProvider: the one seam to a model. Providers translate; they hold no conversation, and they retry nothing: the ring does.

import type { LlmMessage, LlmToolCall, LlmToolSpec, ReasoningBlock } from "./message.js";

export interface LlmRequest {
  readonly messages: readonly LlmMessage[];
  readonly system?: string;
  readonly tools?: readonly LlmToolSpec[];
  /** Default: the model decides. */
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string };
  /** Of the answer. Default: the provider's. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
}

/** Why a model stopped. `other` is whatever a provider says that is none of these. */
export type StopReason = "end" | "toolUse" | "maxTokens" | "stopSequence" | "contentFilter" | "other";

export interface LlmUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input, what was read from the provider's prompt cache. */
  readonly cachedTokens?: number;
  readonly costUsd?: number;
}

export interface LlmResponse {
  readonly content: string;
  readonly toolCalls?: readonly LlmToolCall[];
  readonly stopReason: StopReason;
  readonly usage?: LlmUsage;
  /** In the order in which the provider gave them. */
  readonly reasoning?: readonly ReasoningBlock[];
  /** The call was stopped, and this is what the model had said by then. */
  readonly interrupted?: true;
  /** The model that answered, as the provider names it. */
  readonly model?: string;
}

/** A piece of an answer. The last one is `end`, and holds the very response `complete` would have given. */
export type LlmStreamEvent =
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "reasoning"; readonly delta: string }
  | {
      readonly type: "toolCall";
      readonly index: number;
      readonly id?: string;
      readonly name?: string;
      readonly delta: string;
    }
  | { readonly type: "end"; readonly response: LlmResponse };

export interface LlmCallOptions {
  readonly signal?: AbortSignal;
}

export interface LlmCapabilities {
  readonly streaming?: boolean;
  readonly tools?: boolean;
  readonly images?: boolean;
  readonly files?: boolean;
  /** It returns reasoning, and takes it back. */
  readonly reasoning?: boolean;
}

export const EVERYTHING: LlmCapabilities = Object.freeze({
  streaming: true,
  tools: true,
  images: true,
  files: true,
  reasoning: true,
});

export interface LlmProvider {
  /** Names it in logs, errors and recorded reasoning, such as "anthropic". */
  readonly id: string;
  readonly capabilities: LlmCapabilities;
  /**
   * @throws LlmError with a code, a retry hint (`retryable`, `retryAfterMs`), and never a key or a prompt in its words
   */
  complete(request: LlmRequest, options?: LlmCallOptions): Promise<LlmResponse>;
  /** The same answer in pieces. Ends early only by an error; leaving the loop aborts the call. */
  stream?(request: LlmRequest, options?: LlmCallOptions): AsyncIterable<LlmStreamEvent>;
}
