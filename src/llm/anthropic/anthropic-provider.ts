// AnthropicProvider: Claude, through @anthropic-ai/sdk.

import type Anthropic from "@anthropic-ai/sdk";
import { checkCount, invalidOption } from "../../kernel/index.js";
import type { GuardedRequest } from "../guard/guarded.js";
import type { LlmError } from "../llm-error.js";
import type { LlmResponse, LlmStreamEvent } from "../provider.js";
import { loadSdk } from "../sdk/load.js";
import { Once } from "../sdk/once.js";
import { type CheckedOptions, checkOptions, keyOf } from "../sdk/options.js";
import { SdkProvider } from "../sdk/sdk-provider.js";
import { anthropicFailure } from "./failure.js";
import { ANTHROPIC } from "./names.js";
import type { AnthropicProviderOptions, AnthropicThinking } from "./options.js";
import { anthropicRequest, type Defaults } from "./request.js";
import { anthropicResponse } from "./response.js";
import { anthropicStream } from "./stream.js";

const OWNER = "AnthropicProvider";
const DEFAULT_MODEL = "claude-sonnet-5";
/** Beside what may be thought. */
const DEFAULT_MAX_TOKENS = 8_192;
const RESERVED = ["x-api-key", "authorization", "anthropic-version", "content-type"];

/**
 * Models of Anthropic (Messages API). Needs the package `@anthropic-ai/sdk`, which is loaded at the first request; its own retries are
 * off, for retrying is what `retryMiddleware` does. Key: `apiKey`, or ANTHROPIC_API_KEY.
 */
export class AnthropicProvider extends SdkProvider {
  readonly id = ANTHROPIC;
  readonly #defaults: Defaults;
  readonly #client: Once<Anthropic>;

  /** @throws CONFIG_INVALID for an option that there is not, or a value it cannot have */
  constructor(options: AnthropicProviderOptions = {}) {
    super();
    const rules = { owner: OWNER, reservedHeaders: RESERVED, own: ["thinking", "cache"] };
    const checked = checkOptions(options, rules);
    const { apiKey, model = DEFAULT_MODEL, thinking, cache } = options;
    checkThinking(thinking);
    if (cache !== undefined && cache !== "5m" && cache !== "1h")
      throw invalidOption(`${OWNER}: cache`, 'must be "5m" or "1h"');
    const budget = thinking?.type === "enabled" ? thinking.budgetTokens : 0;
    this.#defaults = { model, maxTokens: options.maxTokens ?? budget + DEFAULT_MAX_TOKENS, thinking, cache };
    this.#client = new Once(() => openClient(apiKey, checked));
  }

  protected override async answer(request: GuardedRequest, signal: AbortSignal): Promise<LlmResponse> {
    const body = anthropicRequest(request, this.#defaults);
    const { messages } = await this.#client.get();
    return anthropicResponse(await messages.create(body, { signal }));
  }

  protected override async *pieces(
    request: GuardedRequest,
    signal: AbortSignal,
  ): AsyncGenerator<LlmStreamEvent> {
    const body = { ...anthropicRequest(request, this.#defaults), stream: true as const };
    const { messages } = await this.#client.get();
    yield* anthropicStream(await messages.create(body, { signal }));
  }

  protected override failureOf(error: unknown): LlmError {
    return anthropicFailure(error);
  }
}

async function openClient(
  apiKey: string | undefined,
  { baseUrl, headers, timeoutMs }: CheckedOptions,
): Promise<Anthropic> {
  const key = keyOf(ANTHROPIC, apiKey, ["ANTHROPIC_API_KEY"]);
  const { default: Client } = await loadSdk(
    ANTHROPIC,
    "@anthropic-ai/sdk",
    () => import("@anthropic-ai/sdk"),
  );
  return new Client({
    apiKey: key,
    authToken: null,
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
    defaultHeaders: headers,
    timeout: timeoutMs,
    maxRetries: 0,
    // It prints what it cannot read, and that is what a model wrote.
    logLevel: "off",
  });
}

function checkThinking(thinking: AnthropicThinking | undefined): void {
  if (thinking === undefined) return;
  const { type } = (thinking ?? {}) as { readonly type?: unknown };
  if (type !== "adaptive" && type !== "enabled" && type !== "disabled")
    throw invalidOption(`${OWNER}: thinking.type`, 'must be "adaptive", "enabled" or "disabled"');
  if (thinking.type !== "enabled") return;
  if (thinking.budgetTokens === undefined)
    throw invalidOption(`${OWNER}: thinking.budgetTokens`, "is missing");
  checkCount(`${OWNER}: thinking.budgetTokens`, thinking.budgetTokens, 1);
}
