// GeminiProvider: Gemini, through @google/genai.

import type { GoogleGenAI } from "@google/genai";
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
import { geminiFailure } from "./failure.js";
import { GEMINI } from "./names.js";
import type { GeminiProviderOptions } from "./options.js";
import { type Defaults, geminiRequest } from "./request.js";
import { geminiResponse, geminiStream } from "./response.js";

const OWNER = "GeminiProvider";
/** The vendor's own name for the newest of its kind. */
const DEFAULT_MODEL = "gemini-flash-latest";
const RESERVED = ["x-goog-api-key", "authorization", "content-type"];

/**
 * Models of Google (Gemini API). Needs the package `@google/genai`, which is loaded at the first request; it retries nothing, for
 * retrying is what `retryMiddleware` does. Key: `apiKey`, or GEMINI_API_KEY, or GOOGLE_API_KEY.
 */
export class GeminiProvider implements LlmProvider {
  readonly id = GEMINI;
  readonly capabilities: LlmCapabilities = {
    streaming: true,
    tools: true,
    images: true,
    files: true,
    reasoning: true,
  };
  readonly #defaults: Defaults;
  readonly #client: Once<GoogleGenAI>;

  /** @throws CONFIG_INVALID for an option that there is not, or a value it cannot have */
  constructor(options: GeminiProviderOptions = {}) {
    const checked = checkOptions(options, {
      owner: OWNER,
      reservedHeaders: RESERVED,
      own: ["includeThoughts"],
    });
    const { apiKey, model = DEFAULT_MODEL, maxTokens, includeThoughts = false } = options;
    if (typeof includeThoughts !== "boolean")
      throw invalidOption(`${OWNER}: includeThoughts`, "must be true or false");
    this.#defaults = { model, maxTokens, includeThoughts };
    this.#client = new Once(() => openClient(apiKey, checked));
  }

  async complete(request: LlmRequest, { signal }: LlmCallOptions = {}): Promise<LlmResponse> {
    const guarded = guardRequest(request);
    return completing({ provider: this.id, signal, failureOf: geminiFailure }, async (following) => {
      const { models } = await this.#client.get();
      return geminiResponse(await models.generateContent(geminiRequest(guarded, this.#defaults, following)));
    });
  }

  stream(request: LlmRequest, { signal }: LlmCallOptions = {}): AsyncIterable<LlmStreamEvent> {
    const client = this.#client;
    const defaults = this.#defaults;
    return streaming({ provider: this.id, signal, failureOf: geminiFailure }, async function* (following) {
      const body = geminiRequest(guardRequest(request), defaults, following);
      const { models } = await client.get();
      yield* geminiStream(await models.generateContentStream(body));
    });
  }
}

async function openClient(
  apiKey: string | undefined,
  { baseUrl, headers, timeoutMs }: CheckedOptions,
): Promise<GoogleGenAI> {
  const key = keyOf(GEMINI, apiKey, ["GEMINI_API_KEY", "GOOGLE_API_KEY"]);
  const { GoogleGenAI: Client } = await loadSdk(GEMINI, "@google/genai", () => import("@google/genai"));
  return new Client({
    apiKey: key,
    vertexai: false,
    // Its third version means another one by default.
    apiVersion: "v1beta",
    httpOptions: {
      headers: { ...headers },
      timeout: timeoutMs,
      ...(baseUrl !== undefined && { baseUrl }),
    },
  });
}
