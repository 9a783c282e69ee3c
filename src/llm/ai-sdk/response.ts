// Results in the words of the AI SDK, whole or put together from a stream.

import type { LlmResponse, LlmUsage, StopReason } from "../provider.js";
import { Answer, argumentsOf } from "../sdk/answer.js";
import { malformed } from "../sdk/failure.js";
import type { AiSdkContent, AiSdkFinishReason, AiSdkResult, AiSdkUsage } from "./model.js";

/** The content that means something here; files, sources and tools that the vendor ran itself do not. */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string; readonly providerMetadata?: object | undefined }
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      /** JSON. */
      readonly input: string;
      readonly providerExecuted?: boolean | undefined;
      readonly providerMetadata?: object | undefined;
    };

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "end",
  length: "maxTokens",
  "content-filter": "contentFilter",
  "tool-calls": "toolUse",
};

/** @throws LLM_RESPONSE_INVALID */
export function aiSdkResponse(result: AiSdkResult, provider: string, modelId: string): LlmResponse {
  if (!Array.isArray(result?.content)) throw malformed(provider, "it has no content");
  const answer = new Answer();
  for (const part of (result.content as readonly AiSdkContent[]).filter(isPart)) {
    if (part.type === "text") answer.text(part.text);
    else if (part.type === "reasoning")
      answer.reasoning({
        kind: "reasoning",
        provider,
        text: part.text,
        ...signatureIn(part.providerMetadata),
      });
    else if (!part.providerExecuted) {
      const { toolCallId: id, toolName: name, input, providerMetadata } = part;
      answer.call({ id, name, ...argumentsOf(input), ...signatureIn(providerMetadata) });
    }
  }
  const stopReason = stopReasonOf(result.finishReason);
  return answer.response({
    stopReason: stopReason === "end" && answer.hasCalls ? "toolUse" : stopReason,
    ...(result.usage && { usage: usageOf(result.usage) }),
    model: result.response?.modelId ?? modelId,
  });
}

export function isPart(content: AiSdkContent): content is Part {
  return content.type === "text" || content.type === "reasoning" || content.type === "tool-call";
}

function signatureIn(metadata: object | undefined): { signature?: string } {
  return metadata === undefined ? {} : { signature: JSON.stringify(metadata) };
}

function stopReasonOf(reason: AiSdkFinishReason): StopReason {
  return STOP_REASONS[typeof reason === "object" ? reason.unified : reason] ?? "other";
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens }: AiSdkUsage): LlmUsage {
  const cached = (typeof inputTokens === "object" ? inputTokens.cacheRead : cachedInputTokens) ?? 0;
  return {
    inputTokens: totalOf(inputTokens),
    outputTokens: totalOf(outputTokens),
    ...(cached > 0 && { cachedTokens: cached }),
  };
}

function totalOf(tokens: number | undefined | { readonly total: number | undefined }): number {
  return (typeof tokens === "object" ? tokens.total : tokens) ?? 0;
}
