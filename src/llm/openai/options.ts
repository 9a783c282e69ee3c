import type { SdkProviderOptions } from "../sdk/options.js";

export interface OpenAiProviderOptions extends SdkProviderOptions {
  /** The field of a request that bounds the answer: servers other than OpenAI's may only know the old one. Default `max_completion_tokens`. */
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens" | undefined;
  /**
   * The field in which a server gives a model's reasoning, and wants it back, such as `reasoning_content`. OpenAI's own has none.
   * Default: reasoning is neither read nor sent.
   */
  readonly reasoningField?: string | undefined;
}
