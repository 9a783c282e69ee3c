import type { SdkProviderOptions } from "../sdk/options.js";

export interface GeminiProviderOptions extends SdkProviderOptions {
  /** Lets the model tell its thoughts, as a summary. Default false. */
  readonly includeThoughts?: boolean | undefined;
}
