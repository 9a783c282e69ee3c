// What a language model of the AI SDK is, as far as it is looked at here: LanguageModelV2, V3 and V4 of @ai-sdk/provider are of this type.
// Said in our words, so that programs without that package compile.

export interface AiSdkModel {
  readonly specificationVersion: "v2" | "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: AiSdkCall): PromiseLike<AiSdkResult>;
  doStream(options: AiSdkCall): PromiseLike<{ readonly stream: AiSdkStream }>;
}

export interface AiSdkCall {
  readonly prompt: object;
  readonly abortSignal?: AbortSignal | undefined;
}

export interface AiSdkResult {
  readonly content: readonly AiSdkContent[];
  readonly finishReason: AiSdkFinishReason;
  readonly usage: AiSdkUsage;
  readonly response?: { readonly modelId?: string | undefined } | undefined;
}

export type AiSdkContent = { readonly type: string };

export type AiSdkFinishReason = string | { readonly unified: string };

export interface AiSdkUsage {
  readonly inputTokens:
    | number
    | undefined
    | { readonly total: number | undefined; readonly cacheRead: number | undefined };
  readonly outputTokens: number | undefined | { readonly total: number | undefined };
  /** Of V2. */
  readonly cachedInputTokens?: number | undefined;
}

export interface AiSdkStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: { readonly type: string } | undefined }>;
    cancel(): Promise<void>;
  };
}
