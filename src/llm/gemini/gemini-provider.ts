// GeminiProvider: Gemini, through @google/genai.

import type { GoogleGenAI } from "@google/genai";
import { checkFlag } from "../../kernel/index.js";
import type { GuardedRequest } from "../guard/guarded.js";
import type { LlmError } from "../llm-error.js";
import type { LlmResponse, LlmStreamEvent } from "../provider.js";
import { loadSdk } from "../sdk/load.js";
import { Once } from "../sdk/once.js";
import { type CheckedOptions, checkOptions, keyOf } from "../sdk/options.js";
import { SdkProvider } from "../sdk/sdk-provider.js";
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
export class GeminiProvider extends SdkProvider {
  readonly id = GEMINI;
  readonly #defaults: Defaults;
  readonly #client: Once<GoogleGenAI>;

  /** @throws CONFIG_INVALID for an option that there is not, or a value it cannot have */
  constructor(options: GeminiProviderOptions = {}) {
    super();
    const checked = checkOptions(options, {
      owner: OWNER,
      reservedHeaders: RESERVED,
      own: ["includeThoughts"],
    });
    const { apiKey, model = DEFAULT_MODEL, maxTokens, includeThoughts = false } = options;
    checkFlag(`${OWNER}: includeThoughts`, includeThoughts);
    this.#defaults = { model, maxTokens, includeThoughts };
    this.#client = new Once(() => openClient(apiKey, checked));
  }

  protected override async answer(request: GuardedRequest, signal: AbortSignal): Promise<LlmResponse> {
    const body = geminiRequest(request, this.#defaults, signal);
    const { models } = await this.#client.get();
    return geminiResponse(await models.generateContent(body));
  }

  protected override async *pieces(
    request: GuardedRequest,
    signal: AbortSignal,
  ): AsyncGenerator<LlmStreamEvent> {
    const body = geminiRequest(request, this.#defaults, signal);
    const { models } = await this.#client.get();
    yield* geminiStream(await models.generateContentStream(body));
  }

  protected override failureOf(error: unknown): LlmError {
    return geminiFailure(error);
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
