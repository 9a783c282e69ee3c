// AnthropicProvider: Claude, through @anthropic-ai/sdk.

import type Anthropic from "@anthropic-ai/sdk";
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
import { type CheckedOptions, checkCount, checkOptions, keyOf } from "../sdk/options.js";
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
export class AnthropicProvider implements LlmProvider {
  readonly id = ANTHROPIC;
  readonly capabilities: LlmCapabilities = {
    streaming: true,
    tools: true,
    images: true,
    files: true,
    reasoning: true,
  };
  readonly #defaults: Defaults;
  readonly #client: Once<Anthropic>;

  /** @throws CONFIG_INVALID for an option that there is not, or a value it cannot have */
  constructor(options: AnthropicProviderOptions = {}) {
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

  async complete(request: LlmRequest, { signal }: LlmCallOptions = {}): Promise<LlmResponse> {
    const body = anthropicRequest(guardRequest(request), this.#defaults);
    return completing({ provider: this.id, signal, failureOf: anthropicFailure }, async (following) => {
      const client = await this.#client.get();
      return anthropicResponse(await client.messages.create(body, { signal: following }));
    });
  }

  stream(request: LlmRequest, { signal }: LlmCallOptions = {}): AsyncIterable<LlmStreamEvent> {
    const client = this.#client;
    const defaults = this.#defaults;
    return streaming({ provider: this.id, signal, failureOf: anthropicFailure }, async function* (following) {
      const body = { ...anthropicRequest(guardRequest(request), defaults), stream: true as const };
      yield* anthropicStream(await (await client.get()).messages.create(body, { signal: following }));
    });
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
  checkCount(`${OWNER}: thinking.budgetTokens`, thinking.budgetTokens);
}
