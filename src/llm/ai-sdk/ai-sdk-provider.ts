// aiSdkProvider: any language model of the AI SDK as a provider.

import { invalidOption } from "../../kernel/index.js";
import type { GuardedRequest } from "../guard/guarded.js";
import { EVERYTHING, type LlmProvider } from "../provider.js";
import { completing, streaming } from "../sdk/call.js";
import { aiSdkFailure } from "./failure.js";
import type { AiSdkCall, AiSdkModel } from "./model.js";
import { aiSdkCall, withTaggedFiles } from "./request.js";
import { aiSdkResponse } from "./response.js";
import { aiSdkStream } from "./stream.js";

/**
 * A provider that asks a language model of the AI SDK (LanguageModelV2, V3 or V4 of `@ai-sdk/provider`), such as `openai("gpt-5.4")` of
 * `@ai-sdk/openai`. Its id is `ai-sdk/` and the model's provider.
 *
 * @throws CONFIG_INVALID for what is no such model
 */
export function aiSdkProvider(model: AiSdkModel): LlmProvider {
  const { specificationVersion: version } = (model ?? {}) as Partial<AiSdkModel>;
  if (version !== "v2" && version !== "v3" && version !== "v4")
    throw invalidOption(
      "aiSdkProvider: model",
      "must be a LanguageModelV2, V3 or V4 of the AI SDK, not its name",
    );
  const id = `ai-sdk/${model.provider}`;
  const failureOf = (error: unknown) => aiSdkFailure(id, error);
  const callOf = (request: GuardedRequest, signal: AbortSignal): AiSdkCall => {
    const call = aiSdkCall(request, id, signal);
    return version === "v4" ? withTaggedFiles(call) : call;
  };
  return {
    id,
    capabilities: EVERYTHING,
    async complete(request, { signal } = {}) {
      return completing({ provider: id, signal, failureOf }, request, async (guarded, following) =>
        aiSdkResponse(await model.doGenerate(callOf(guarded, following)), id, model.modelId),
      );
    },
    stream(request, { signal } = {}) {
      return streaming({ provider: id, signal, failureOf }, request, async function* (guarded, following) {
        const { stream } = await model.doStream(callOf(guarded, following));
        yield* aiSdkStream(stream, id, model.modelId);
      });
    },
  };
}
