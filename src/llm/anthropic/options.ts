import type { SdkProviderOptions } from "../sdk/options.js";

/**
 * How the model thinks: as much as it sees fit, or up to a budget, which is part of `maxTokens`. `summarized` shows the text of its
 * thoughts, `omitted` keeps only their signatures.
 */
export type AnthropicThinking =
  | { readonly type: "adaptive"; readonly display?: "summarized" | "omitted" }
  | { readonly type: "enabled"; readonly budgetTokens: number; readonly display?: "summarized" | "omitted" }
  | { readonly type: "disabled" };

export interface AnthropicProviderOptions extends SdkProviderOptions {
  /** Default: nothing is said of thinking. */
  readonly thinking?: AnthropicThinking | undefined;
  /** Lets Anthropic keep the conversation's beginning for that long, so that the next turn reads it cheaper. Default: not at all. */
  readonly cache?: "5m" | "1h" | undefined;
}
