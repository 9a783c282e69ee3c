import { GeminiProvider } from "../../../src/llm/index.js";
import { json } from "./server.js";
import type { Spoken, Vendor } from "./vendor.js";

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: object;
}

const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\r\n\r\n`;
const cut = (text: string): string[] => text.match(/.{1,5}/gsu) ?? [""];
const usageMetadata = {
  promptTokenCount: 123,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 4,
  cachedContentTokenCount: 100,
  totalTokenCount: 132,
};
const response = (parts: readonly Part[], finishReason?: string) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata,
  modelVersion: "gemini-test",
  responseId: "r1",
});

/** Texts come in several parts; a signature comes with the last of them. */
function framesOf(parts: readonly Part[], finish: string): string[] {
  const pieces = parts.flatMap((part): Part[] => {
    if (part.text === undefined) return [part];
    const { thoughtSignature, ...rest } = part;
    const texts = cut(part.text).map((text): Part => ({ ...rest, text }));
    return thoughtSignature === undefined
      ? texts
      : [...texts.slice(0, -1), { ...texts.at(-1), thoughtSignature }];
  });
  return [...pieces.map((part) => frame(response([part]))), frame(response([], finish))];
}

function spoken(
  title: string,
  parts: readonly Part[],
  finish: string,
  expected: Omit<Spoken["expected"], "usage" | "model">,
): Spoken {
  return {
    title,
    whole: response(parts, finish),
    frames: framesOf(parts, finish),
    expected: {
      ...expected,
      usage: { inputTokens: 123, outputTokens: 9, cachedTokens: 100 },
      model: "gemini-test",
    },
  };
}

const STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
};

const error = (status: number, message: string, details: object[] = []) =>
  json({ error: { code: status, message, status: STATUSES[status] ?? "UNKNOWN", details } }, status);

export const gemini: Vendor = {
  name: "gemini",
  open: (options) => new GeminiProvider(options),
  keyVariable: "GEMINI_API_KEY",
  reservedHeaders: ["X-Goog-Api-Key", "content-type"],
  keyIn: (headers) => headers["x-goog-api-key"],
  spoken: [
    spoken("text", [{ text: "Grüße, 世界 👩‍👩‍👧!" }], "STOP", {
      content: "Grüße, 世界 👩‍👩‍👧!",
      stopReason: "end",
    }),
    spoken(
      "two calls beside a text",
      [
        { text: "Let me look." },
        {
          functionCall: { id: "fc_1", name: "look", args: { at: "the sea", deep: [1, null] } },
          thoughtSignature: "c2ln",
        },
        { functionCall: { name: "now" } },
      ],
      "STOP",
      {
        content: "Let me look.",
        toolCalls: [
          { id: "fc_1", name: "look", input: { at: "the sea", deep: [1, null] }, signature: "c2ln" },
          { id: "r1_1", name: "now", input: {} },
        ],
        stopReason: "toolUse",
      },
    ),
    spoken(
      "reasoning, and a signature with the text",
      [
        { text: "First, the weather.", thought: true },
        { text: "It rains.", thoughtSignature: "dGV4dA" },
        { text: "Then, the sea.", thought: true },
        { functionCall: { id: "fc_1", name: "look", args: {} } },
      ],
      "STOP",
      {
        content: "It rains.",
        toolCalls: [{ id: "fc_1", name: "look", input: {} }],
        reasoning: [
          { kind: "reasoning", provider: "gemini", text: "First, the weather." },
          { kind: "redacted", provider: "gemini", signature: "dGV4dA", after: { chars: 9, calls: 0 } },
          { kind: "reasoning", provider: "gemini", text: "Then, the sea.", after: { chars: 9, calls: 0 } },
        ],
        stopReason: "toolUse",
      },
    ),
    spoken("an answer that was cut", [{ text: "To be contin" }], "MAX_TOKENS", {
      content: "To be contin",
      stopReason: "maxTokens",
    }),
    spoken("a refusal", [], "SAFETY", { content: "", stopReason: "contentFilter" }),
    {
      title: "a blocked prompt",
      whole: { promptFeedback: { blockReason: "SAFETY" }, modelVersion: "gemini-test" },
      frames: [frame({ promptFeedback: { blockReason: "SAFETY" }, modelVersion: "gemini-test" })],
      expected: { content: "", stopReason: "contentFilter", model: "gemini-test" },
    },
    spoken("a call the model could not write", [], "MALFORMED_FUNCTION_CALL", {
      content: "",
      stopReason: "other",
    }),
  ],
  error: (status, message) =>
    error(
      status,
      message,
      status === 429 ? [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }] : [],
    ),
  tooLong: () =>
    error(400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
  errorFrame: frame({ error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" } }),
};
