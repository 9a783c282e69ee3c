// OpenAiProvider: Chat Completions, through the package openai; those of OpenAI, or of any server that speaks like it.

import type OpenAI from "openai";
import { invalidOption } from "../../kernel/index.js";
import type { GuardedRequest } from "../guard/guarded.js";
import type { LlmError } from "../llm-error.js";
import { EVERYTHING, type LlmCapabilities, type LlmResponse, type LlmStreamEvent } from "../provider.js";
import { loadSdk } from "../sdk/load.js";
import { Once } from "../sdk/once.js";
import { type CheckedOptions, checkOptions, keyOf } from "../sdk/options.js";
import { SdkProvider } from "../sdk/sdk-provider.js";
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
export class OpenAiProvider extends SdkProvider {
  readonly id = OPENAI;
  override readonly capabilities: LlmCapabilities;
  readonly #defaults: Defaults;
  readonly #client: Once<OpenAI>;

  /** @throws CONFIG_INVALID for an option that there is not, or a value it cannot have */
  constructor(options: OpenAiProviderOptions = {}) {
    super();
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
    this.capabilities = { ...EVERYTHING, reasoning: reasoningField !== undefined };
    this.#defaults = { model, maxTokens, maxTokensField, reasoningField };
    this.#client = new Once(() => openClient(apiKey, checked));
  }

  protected override async answer(request: GuardedRequest, signal: AbortSignal): Promise<LlmResponse> {
    const body = openAiRequest(request, this.#defaults);
    const { chat } = await this.#client.get();
    return openAiResponse(await chat.completions.create(body, { signal }), this.#defaults.reasoningField);
  }

  protected override async *pieces(
    request: GuardedRequest,
    signal: AbortSignal,
  ): AsyncGenerator<LlmStreamEvent> {
    const body = {
      ...openAiRequest(request, this.#defaults),
      stream: true as const,
      stream_options: { include_usage: true },
    };
    const { chat } = await this.#client.get();
    yield* openAiStream(await chat.completions.create(body, { signal }), this.#defaults.reasoningField);
  }

  protected override failureOf(error: unknown): LlmError {
    return openAiFailure(error);
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
