// Models of the AI SDK as providers: both versions of its interface, whole and streamed.

import {
  APICallError,
  JSONParseError,
  type LanguageModelV2,
  type LanguageModelV2StreamPart,
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3GenerateResult,
  type LanguageModelV3StreamPart,
  type LanguageModelV3StreamResult,
  LoadAPIKeyError,
} from "@ai-sdk/provider";
import { describe, expect, expectTypeOf, it } from "vitest";
import { tainted } from "../../src/index.js";
import {
  type AiSdkModel,
  aiSdkProvider,
  type LlmMessage,
  type LlmRequest,
  type LlmResponse,
} from "../../src/llm/index.js";
import { collect } from "../support/collect.js";

const request: LlmRequest = { messages: [{ role: "user", content: "hello" }] };
const signature = { vendor: { signature: "c2ln" } };

const usageV3 = {
  inputTokens: { total: 20, noCache: 5, cacheRead: 15, cacheWrite: 0 },
  outputTokens: { total: 9, text: 4, reasoning: 5 },
};
const content = [
  { type: "reasoning", text: "First, the sky.", providerMetadata: signature },
  { type: "text", text: "One moment." },
  { type: "reasoning", text: "Then the sea." },
  {
    type: "tool-call",
    toolCallId: "c1",
    toolName: "look",
    input: '{"at":"sea"}',
    providerMetadata: signature,
  },
  { type: "tool-call", toolCallId: "c2", toolName: "look", input: '{"at": ' },
  { type: "tool-call", toolCallId: "c3", toolName: "search", input: "{}", providerExecuted: true },
] as const;
const expected: LlmResponse = {
  content: "One moment.",
  toolCalls: [
    { id: "c1", name: "look", input: { at: "sea" }, signature: JSON.stringify(signature) },
    { id: "c2", name: "look", input: undefined, malformed: '{"at": ' },
  ],
  reasoning: [
    {
      kind: "reasoning",
      provider: "ai-sdk/vendor.chat",
      text: "First, the sky.",
      signature: JSON.stringify(signature),
    },
    {
      kind: "reasoning",
      provider: "ai-sdk/vendor.chat",
      text: "Then the sea.",
      after: { chars: 11, calls: 0 },
    },
  ],
  stopReason: "toolUse",
  usage: { inputTokens: 20, outputTokens: 9, cachedTokens: 15 },
  model: "m-1-today",
};

/** The same content in pieces. */
const pieces: LanguageModelV3StreamPart[] = [
  { type: "stream-start", warnings: [] },
  { type: "response-metadata", modelId: "m-1-today" },
  { type: "reasoning-start", id: "1" },
  { type: "reasoning-delta", id: "1", delta: "First, " },
  { type: "reasoning-delta", id: "1", delta: "the sky." },
  { type: "reasoning-end", id: "1", providerMetadata: signature },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "One " },
  { type: "text-delta", id: "1", delta: "moment." },
  { type: "text-end", id: "1" },
  { type: "reasoning-start", id: "2" },
  { type: "reasoning-delta", id: "2", delta: "Then the sea." },
  { type: "reasoning-end", id: "2" },
  { type: "tool-input-start", id: "c1", toolName: "look" },
  { type: "tool-input-delta", id: "c1", delta: '{"at":' },
  { type: "tool-input-delta", id: "c1", delta: '"sea"}' },
  { type: "tool-input-end", id: "c1" },
  { ...content[3] },
  { ...content[4] },
  { ...content[5] },
  { type: "finish", finishReason: { unified: "tool-calls", raw: "tool_use" }, usage: usageV3 },
];

const streamOf = <T>(parts: readonly T[]): ReadableStream<T> =>
  new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });

class ModelV3 implements LanguageModelV3 {
  readonly specificationVersion = "v3";
  readonly provider = "vendor.chat";
  readonly modelId = "m-1";
  readonly supportedUrls = {};
  readonly calls: LanguageModelV3CallOptions[] = [];
  streams: (parts: readonly LanguageModelV3StreamPart[]) => ReadableStream<LanguageModelV3StreamPart> =
    streamOf;
  fails: unknown;

  async doGenerate(options: LanguageModelV3CallOptions): Promise<LanguageModelV3GenerateResult> {
    this.calls.push(options);
    if (this.fails !== undefined) throw this.fails;
    const finishReason = { unified: "tool-calls", raw: "tool_use" } as const;
    return {
      content: [...content],
      finishReason,
      usage: usageV3,
      response: { modelId: "m-1-today" },
      warnings: [],
    };
  }

  async doStream(options: LanguageModelV3CallOptions): Promise<LanguageModelV3StreamResult> {
    this.calls.push(options);
    if (this.fails !== undefined) throw this.fails;
    return { stream: this.streams(pieces) };
  }
}

const usageV2 = { inputTokens: 20, outputTokens: 9, totalTokens: 29, cachedInputTokens: 15 };
const modelV2: LanguageModelV2 = {
  specificationVersion: "v2",
  provider: "vendor.chat",
  modelId: "m-1",
  supportedUrls: {},
  doGenerate: async () => ({
    content: [...content],
    finishReason: "stop",
    usage: usageV2,
    response: { modelId: "m-1-today" },
    warnings: [],
  }),
  doStream: async () => {
    const last: LanguageModelV2StreamPart = { type: "finish", finishReason: "stop", usage: usageV2 };
    return { stream: streamOf([...(pieces.slice(0, -1) as LanguageModelV2StreamPart[]), last]) };
  },
};

describe.each([
  ["LanguageModelV2", () => modelV2],
  ["LanguageModelV3", () => new ModelV3()],
])("a %s", (_name, open: () => AiSdkModel) => {
  it("answers, and a stream ends with the same answer", async () => {
    const provider = aiSdkProvider(open());
    expect(provider.id).toBe("ai-sdk/vendor.chat");
    expect(await provider.complete(request)).toEqual(expected);
    const events = await collect(provider.stream!(request));
    expect(events.at(-1)).toEqual({ type: "end", response: expected });
    const joined = (type: string): string =>
      events.flatMap((event) => (event.type === type && "delta" in event ? [event.delta] : [])).join("");
    expect(joined("text")).toBe("One moment.");
    expect(joined("reasoning")).toBe("First, the sky.Then the sea.");
    expect(joined("toolCall")).toBe('{"at":"sea"}{"at": ');
  });
});

it("takes models as their packages type them", () => {
  expectTypeOf<LanguageModelV2>().toExtend<AiSdkModel>();
  expectTypeOf<LanguageModelV3>().toExtend<AiSdkModel>();
  for (const odd of ["openai/gpt-5", undefined, { specificationVersion: "v1" }])
    expect(() => aiSdkProvider(odd as unknown as AiSdkModel)).toThrow("aiSdkProvider: model");
});

it("is asked in its own words, its metadata given back", async () => {
  const model = new ModelV3();
  const provider = aiSdkProvider(model);
  const { toolCalls, reasoning } = expected;
  const messages: LlmMessage[] = [
    {
      role: "user",
      content: [
        { type: "text", text: tainted("look at this", "mail") },
        { type: "image", mediaType: "image/png", source: { kind: "base64", data: "iVBORw0KGgo=" } },
        {
          type: "file",
          mediaType: "application/pdf",
          name: "a.pdf",
          source: { kind: "url", url: "https://a.example/a.pdf" },
        },
      ],
    },
    { role: "assistant", content: "One moment.", toolCalls: toolCalls!, reasoning: reasoning! },
    { role: "tool", toolCallId: "c1", toolName: "look", content: "blue" },
    { role: "tool", toolCallId: "c2", toolName: "look", content: "no JSON", isError: true },
  ];
  const tools = [{ name: "look", description: "Looks", inputSchema: { type: "object" } }];
  const choice = { toolChoice: { name: "look" }, maxTokens: 5, temperature: 0, stopSequences: ["END"] };
  await provider.complete({ messages, system: "Be kind.", tools, ...choice });
  const { abortSignal, ...call } = model.calls[0]!;
  expect(abortSignal).toBeInstanceOf(AbortSignal);
  expect(call).toEqual({
    maxOutputTokens: 5,
    temperature: 0,
    stopSequences: ["END"],
    tools: [{ type: "function", ...tools[0] }],
    toolChoice: { type: "tool", toolName: "look" },
    prompt: [
      { role: "system", content: "Be kind." },
      {
        role: "user",
        content: [
          { type: "text", text: expect.stringContaining('<untrusted origin="mail"') as string },
          { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" },
          {
            type: "file",
            mediaType: "application/pdf",
            filename: "a.pdf",
            data: new URL("https://a.example/a.pdf"),
          },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "First, the sky.", providerOptions: signature },
          { type: "text", text: "One moment." },
          { type: "reasoning", text: "Then the sea." },
          {
            type: "tool-call",
            toolCallId: "c1",
            toolName: "look",
            input: { at: "sea" },
            providerOptions: signature,
          },
          { type: "tool-call", toolCallId: "c2", toolName: "look", input: {} },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c1",
            toolName: "look",
            output: { type: "text", value: "blue" },
          },
          {
            type: "tool-result",
            toolCallId: "c2",
            toolName: "look",
            output: { type: "error-text", value: "no JSON" },
          },
        ],
      },
    ],
  });
});

it("of the fourth version is told what the data of a file is", async () => {
  const model = new ModelV3();
  const provider = aiSdkProvider({
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    doGenerate: (call) => model.doGenerate(call as LanguageModelV3CallOptions),
    doStream: (call) => model.doStream(call as LanguageModelV3CallOptions),
  });
  const content = [
    { type: "text", text: "look" },
    { type: "image", mediaType: "image/png", source: { kind: "base64", data: "iVBORw0KGgo=" } },
    { type: "image", mediaType: "image/png", source: { kind: "url", url: "https://a.example/a.png" } },
  ] as const;
  expect(await provider.complete({ messages: [{ role: "user", content }] })).toEqual(expected);
  expect(model.calls[0]!.prompt[0]!.content).toEqual([
    { type: "text", text: "look" },
    { type: "file", mediaType: "image/png", data: { type: "data", data: "iVBORw0KGgo=" } },
    { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://a.example/a.png") } },
  ]);
});

describe("its failures", () => {
  const http = (statusCode: number, message = "you said swordfish", responseHeaders = {}): APICallError =>
    new APICallError({
      message,
      url: "http://a.example",
      requestBodyValues: {},
      statusCode,
      responseHeaders,
    });

  it.each([
    [http(401), "LLM_UNAUTHENTICATED", false],
    [http(429, "slow down", { "retry-after": "7" }), "LLM_RATE_LIMITED", true],
    [http(529), "LLM_UNAVAILABLE", true],
    [http(400), "LLM_REQUEST_REFUSED", false],
    [http(400, "maximum context length is 128000"), "LLM_CONTEXT_TOO_LONG", false],
    [new APICallError({ message: "fetch failed", url: "", requestBodyValues: {} }), "LLM_UNAVAILABLE", true],
    [new LoadAPIKeyError({ message: "no key" }), "LLM_UNAUTHENTICATED", false],
    [new JSONParseError({ text: "swordfish", cause: new Error("x") }), "LLM_RESPONSE_INVALID", true],
    [{ type: "overloaded_error", message: "swordfish" }, "LLM_UNAVAILABLE", true],
    ["swordfish", "LLM_UNAVAILABLE", true],
  ])("%s is %s", async (thrown, code, retryable) => {
    const model = new ModelV3();
    model.fails = thrown;
    const provider = aiSdkProvider(model);
    for (const pending of [provider.complete(request), collect(provider.stream!(request))]) {
      const error = await pending.then(
        () => new Error("it did not fail"),
        (each: Error) => each,
      );
      expect(error).toMatchObject({ code, retryable });
      expect(JSON.stringify([error, error.message])).not.toContain("swordfish");
      if (code === "LLM_RATE_LIMITED") expect(error).toMatchObject({ retryAfterMs: 7_000 });
    }
  });

  it("a stream that breaks off, and one that says it failed", async () => {
    const model = new ModelV3();
    model.streams = (parts) => streamOf(parts.slice(0, 5));
    await expect(collect(aiSdkProvider(model).stream!(request))).rejects.toMatchObject({
      code: "LLM_UNAVAILABLE",
    });
    model.streams = (parts) => streamOf([...parts.slice(0, 5), { type: "error", error: http(429) }]);
    await expect(collect(aiSdkProvider(model).stream!(request))).rejects.toMatchObject({
      code: "LLM_RATE_LIMITED",
    });
  });
});

it("a signal stops a stream, and leaving it cancels the model's", async () => {
  const model = new ModelV3();
  let cancelled = 0;
  model.streams = (parts) =>
    new ReadableStream({
      start: (controller) => parts.slice(0, 6).forEach((part) => controller.enqueue(part)),
      cancel: () => void cancelled++,
    });
  const provider = aiSdkProvider(model);
  for await (const _event of provider.stream!(request)) break;
  expect(cancelled).toBe(1);
  expect(model.calls[0]!.abortSignal!.aborted).toBe(true);

  const controller = new AbortController();
  const read = async (): Promise<void> => {
    for await (const _event of provider.stream!(request, { signal: controller.signal })) controller.abort();
  };
  await expect(read()).rejects.toMatchObject({ code: "LLM_ABORTED" });
  expect(cancelled).toBe(2);
});
