// aiSdkProvider: any language model of the AI SDK as a provider.

import { invalidOption } from "../../kernel/index.js";
import { guardRequest } from "../guard/guard-request.js";
import type { LlmProvider } from "../provider.js";
import { completing, streaming } from "../sdk/call.js";
import { aiSdkFailure } from "./failure.js";
import type { AiSdkModel } from "./model.js";
import { aiSdkCall } from "./request.js";
import { aiSdkResponse } from "./response.js";
import { aiSdkStream } from "./stream.js";

/**
 * A provider that asks a language model of the AI SDK (LanguageModelV2 or V3 of `@ai-sdk/provider`), such as `openai("gpt-5.4")` of
 * `@ai-sdk/openai`. Its id is `ai-sdk/` and the model's provider.
 *
 * @throws CONFIG_INVALID for what is no such model
 */
export function aiSdkProvider(model: AiSdkModel): LlmProvider {
  const { specificationVersion: version, modelId } = (model ?? {}) as Partial<AiSdkModel>;
  if (version !== "v2" && version !== "v3")
    throw invalidOption(
      "aiSdkProvider: model",
      "must be a LanguageModelV2 or LanguageModelV3 of the AI SDK, not its name",
    );
  const id = `ai-sdk/${model.provider}`;
  const failureOf = (error: unknown) => aiSdkFailure(id, error);
  return {
    id,
    capabilities: { streaming: true, tools: true, images: true, files: true, reasoning: true },
    async complete(request, { signal } = {}) {
      const guarded = guardRequest(request);
      return completing({ provider: id, signal, failureOf }, async (following) =>
        aiSdkResponse(await model.doGenerate(aiSdkCall(guarded, id, following)), id, modelId ?? ""),
      );
    },
    stream(request, { signal } = {}) {
      return streaming({ provider: id, signal, failureOf }, async function* (following) {
        const { stream } = await model.doStream(aiSdkCall(guardRequest(request), id, following));
        yield* aiSdkStream(stream, id, modelId ?? "");
      });
    },
  };
}
