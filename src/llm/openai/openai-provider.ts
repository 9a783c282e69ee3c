// OpenAiProvider: Chat Completions, through the package openai; those of OpenAI, or of any server that speaks like it.

import type OpenAI from "openai";
import { invalidOption } from "../../kernel/index.js";
import { guardRequest } from "../guard/guard-request.js";
import type {
  LlmCallOptions,
  LlmCapabilities,
  LlmProvider,
  LlmRequest,
  LlmResponse,
  LlmStreamEvent,
} from "../provider.js";
import { completing, streaming } from "../sdk/call.js";
import { loadSdk } from "../sdk/load.js";
import { Once } from "../sdk/once.js";
import { type CheckedOptions, checkOptions, keyOf } from "../sdk/options.js";
import { openAiFailure } from "./failure.js";
import { OPENAI } from "./names.js";
import type { OpenAiProviderOptions } from "./options.js";
import { type Defaults, openAiRequest } from "./request.js";
import { openAiResponse } from "./response.js";
import { openAiStream } from "./stream.js";

const OWNER = "OpenAiProvider";
const DEFAULT_MODEL = "gpt-5.4";
const RESERVED = ["authorization", "content-type"];

/**
 * Models behind OpenAI's Chat Completions, also those of other servers (`baseUrl`). Needs the package `openai`, which is loaded at the
 * first request; its own retries are off, for retrying is what `retryMiddleware` does. Key: `apiKey`, or OPENAI_API_KEY.
 */
export class OpenAiProvider implements LlmProvider {
  readonly id = OPENAI;
  readonly capabilities: LlmCapabilities;
  readonly #defaults: Defaults;
  readonly #client: Once<OpenAI>;

  /** @throws CONFIG_INVALID for an option that there is not, or a value it cannot have */
  constructor(options: OpenAiProviderOptions = {}) {
    const rules = { owner: OWNER, reservedHeaders: RESERVED, own: ["maxTokensField", "reasoningField"] };
    const checked = checkOptions(options, rules);
    const {
      apiKey,
      model = DEFAULT_MODEL,
      maxTokens,
      maxTokensField = "max_completion_tokens",
      reasoningField,
    } = options;
    if (maxTokensField !== "max_completion_tokens" && maxTokensField !== "max_tokens")
      throw invalidOption(`${OWNER}: maxTokensField`, 'must be "max_completion_tokens" or "max_tokens"');
    if (reasoningField !== undefined && (typeof reasoningField !== "string" || reasoningField === ""))
      throw invalidOption(`${OWNER}: reasoningField`, "must be the name of a field");
    const reasoning = reasoningField !== undefined;
    this.capabilities = { streaming: true, tools: true, images: true, files: true, reasoning };
    this.#defaults = { model, maxTokens, maxTokensField, reasoningField };
    this.#client = new Once(() => openClient(apiKey, checked));
  }

  async complete(request: LlmRequest, { signal }: LlmCallOptions = {}): Promise<LlmResponse> {
    const body = openAiRequest(guardRequest(request), this.#defaults);
    return completing({ provider: this.id, signal, failureOf: openAiFailure }, async (following) => {
      const client = await this.#client.get();
      const completion = await client.chat.completions.create(body, { signal: following });
      return openAiResponse(completion, this.#defaults.reasoningField);
    });
  }

  stream(request: LlmRequest, { signal }: LlmCallOptions = {}): AsyncIterable<LlmStreamEvent> {
    const client = this.#client;
    const defaults = this.#defaults;
    return streaming({ provider: this.id, signal, failureOf: openAiFailure }, async function* (following) {
      const { completions } = (await client.get()).chat;
      const body = {
        ...openAiRequest(guardRequest(request), defaults),
        stream: true as const,
        stream_options: { include_usage: true },
      };
      yield* openAiStream(await completions.create(body, { signal: following }), defaults.reasoningField);
    });
  }
}

async function openClient(
  apiKey: string | undefined,
  { baseUrl, headers, timeoutMs }: CheckedOptions,
): Promise<OpenAI> {
  const key = keyOf(OPENAI, apiKey, ["OPENAI_API_KEY"]);
  const { default: Client } = await loadSdk(OPENAI, "openai", () => import("openai"));
  return new Client({
    apiKey: key,
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
    defaultHeaders: headers,
    timeout: timeoutMs,
    maxRetries: 0,
    // It prints what it cannot read, and that is what a model wrote.
    logLevel: "off",
  });
}
