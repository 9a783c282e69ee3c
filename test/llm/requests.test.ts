// What the vendors are sent: one rich conversation in the words of each.

import { describe, expect, it } from "vitest";
import {
  AnthropicProvider,
  type AnthropicProviderOptions,
  GeminiProvider,
  type GeminiProviderOptions,
  type LlmMessage,
  type LlmProvider,
  type LlmRequest,
  OpenAiProvider,
  type OpenAiProviderOptions,
} from "../../src/llm/index.js";
import { anthropic } from "./wire/anthropic.js";
import { gemini } from "./wire/gemini.js";
import { openAi } from "./wire/openai.js";
import { json, llmServer, type Received } from "./wire/server.js";
import type { Vendor } from "./wire/vendor.js";

const PNG = "iVBORw0KGgo=";
const tool = {
  name: "look",
  description: "Looks at something",
  inputSchema: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
};

/** With reasoning as `provider` would have given it, and some of another's. */
const conversation = (provider: string): readonly LlmMessage[] => [
  {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image", mediaType: "image/png", source: { kind: "base64", data: PNG } },
      {
        type: "file",
        mediaType: "application/pdf",
        name: "a.pdf",
        source: { kind: "base64", data: "JVBERi0=" },
      },
    ],
  },
  {
    role: "assistant",
    content: "One moment.",
    toolCalls: [
      { id: "c1", name: "look", input: { at: "sky" }, signature: "c2lnMQ" },
      { id: "c2", name: "look", input: undefined, malformed: '{"at": ' },
    ],
    reasoning: [
      { kind: "reasoning", provider, text: "First, the sky.", signature: "c2ln" },
      { kind: "reasoning", provider: "another", text: "Not ours.", signature: "x" },
      { kind: "reasoning", provider, reference: "sha256/1", digest: "1", signature: "lost" },
      { kind: "redacted", provider, signature: "b3BhcXVl", after: { chars: 11, calls: 0 } },
      {
        kind: "reasoning",
        provider,
        text: "Then more.",
        signature: "c2lnMg",
        after: { chars: 11, calls: 1 },
      },
    ],
  },
  {
    role: "tool",
    toolCallId: "c1",
    toolName: "look",
    content: [
      { type: "text", text: "blue" },
      { type: "image", mediaType: "image/png", source: { kind: "base64", data: PNG } },
    ],
  },
  { role: "tool", toolCallId: "c2", toolName: "look", content: "The arguments are no JSON.", isError: true },
  { role: "user", content: "And now?" },
  { role: "assistant", content: "Blue." },
  {
    role: "user",
    content: [
      { type: "image", mediaType: "image/jpeg", source: { kind: "url", url: "https://a.example/b.jpg" } },
    ],
  },
];

async function sent<T>(
  vendor: Vendor,
  Provider: new (options: T) => LlmProvider,
  options: T,
  request: Partial<LlmRequest> & { readonly messages?: readonly LlmMessage[] } = {},
): Promise<Received> {
  const server = await llmServer(() => json(vendor.spoken[0]!.whole));
  const provider = new Provider({ ...options, apiKey: "k", baseUrl: server.url });
  await provider.complete({ messages: [{ role: "user", content: "hi" }], ...request });
  return server.received[0]!;
}

const settings = {
  system: "Be kind.",
  tools: [tool],
  toolChoice: "required",
  maxTokens: 50,
  temperature: 0.5,
  stopSequences: ["END"],
} as const;

describe("Anthropic is sent", () => {
  const send = (options: AnthropicProviderOptions, request?: Partial<LlmRequest>): Promise<Received> =>
    sent(anthropic, AnthropicProvider, options, request);

  it("a whole conversation, its blocks of reasoning where they were", async () => {
    const { path, body } = await send(
      { model: "claude-x" },
      { ...settings, messages: conversation("anthropic") },
    );
    expect(path).toBe("/v1/messages");
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
    expect(body).toEqual({
      model: "claude-x",
      max_tokens: 50,
      system: "Be kind.",
      temperature: 0.5,
      stop_sequences: ["END"],
      tools: [{ name: "look", description: "Looks at something", input_schema: tool.inputSchema }],
      tool_choice: { type: "any" },
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            image,
            {
              type: "document",
              title: "a.pdf",
              source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
            },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "First, the sky.", signature: "c2ln" },
            { type: "text", text: "One moment." },
            { type: "redacted_thinking", data: "b3BhcXVl" },
            { type: "tool_use", id: "c1", name: "look", input: { at: "sky" } },
            { type: "thinking", thinking: "Then more.", signature: "c2lnMg" },
            { type: "tool_use", id: "c2", name: "look", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "blue" }, image] },
            {
              type: "tool_result",
              tool_use_id: "c2",
              content: [{ type: "text", text: "The arguments are no JSON." }],
              is_error: true,
            },
            { type: "text", text: "And now?" },
          ],
        },
        { role: "assistant", content: [{ type: "text", text: "Blue." }] },
        {
          role: "user",
          content: [{ type: "image", source: { type: "url", url: "https://a.example/b.jpg" } }],
        },
      ],
    });
  });

  it("nothing of what was not asked for", async () => {
    const { body } = await send({});
    expect(Object.keys(body).sort()).toEqual(["max_tokens", "messages", "model"]);
    expect(body.max_tokens).toBe(8_192);
  });

  it("thinking and the cache as they were asked for", async () => {
    const adaptive = await send({ thinking: { type: "adaptive", display: "summarized" }, cache: "1h" });
    expect(adaptive.body).toMatchObject({
      thinking: { type: "adaptive", display: "summarized" },
      cache_control: { type: "ephemeral", ttl: "1h" },
    });
    const budget = await send({ thinking: { type: "enabled", budgetTokens: 2_000 } });
    expect(budget.body).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 2_000 },
      max_tokens: 10_192,
    });
    expect((await send({ maxTokens: 7 })).body.max_tokens).toBe(7);
  });

  it("text files as text, files by their address, and no other files", async () => {
    const file = (mediaType: string, source: object): Partial<LlmRequest> => ({
      messages: [{ role: "user", content: [{ type: "file", mediaType, source }] } as LlmMessage],
    });
    const text = await send(
      {},
      file("text/csv", { kind: "base64", data: Buffer.from("a;b").toString("base64") }),
    );
    expect(JSON.stringify(text.body)).toContain('{"type":"text","media_type":"text/plain","data":"a;b"}');
    const address = await send({}, file("application/pdf", { kind: "url", url: "https://a.example/x.pdf" }));
    expect(JSON.stringify(address.body)).toContain('{"type":"url","url":"https://a.example/x.pdf"}');
    await expect(send({}, file("audio/mp3", { kind: "base64", data: "x" }))).rejects.toMatchObject({
      code: "LLM_REQUEST_REFUSED",
      message: "anthropic takes no files of the type audio/mp3.",
    });
  });

  it.each([
    [{ thinking: { type: "on" } }, "thinking.type"],
    [{ thinking: { type: "enabled" } }, "thinking.budgetTokens"],
    [{ thinking: { type: "enabled", budgetTokens: 0 } }, "thinking.budgetTokens"],
    [{ cache: "2h" }, "cache"],
  ])("nothing where options cannot be: %o", (options, words) => {
    expect(() => new AnthropicProvider(options as AnthropicProviderOptions)).toThrow(words);
  });
});

describe("OpenAI is sent", () => {
  const send = (options: OpenAiProviderOptions, request?: Partial<LlmRequest>): Promise<Received> =>
    sent(openAi, OpenAiProvider, options, request);

  it("a whole conversation; what tools show beside text follows their results", async () => {
    const { path, headers, body } = await send(
      { model: "gpt-x" },
      { ...settings, messages: conversation("openai") },
    );
    expect(path).toBe("/chat/completions");
    expect(headers.authorization).toBe("Bearer k");
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
    const call = (id: string, written: string) => ({
      id,
      type: "function",
      function: { name: "look", arguments: written },
    });
    expect(body).toEqual({
      model: "gpt-x",
      max_completion_tokens: 50,
      temperature: 0.5,
      stop: ["END"],
      tools: [
        {
          type: "function",
          function: { name: "look", description: "Looks at something", parameters: tool.inputSchema },
        },
      ],
      tool_choice: "required",
      messages: [
        { role: "system", content: "Be kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            image,
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
          ],
        },
        {
          role: "assistant",
          content: "One moment.",
          tool_calls: [call("c1", '{"at":"sky"}'), call("c2", "{}")],
        },
        { role: "tool", tool_call_id: "c1", content: "blue" },
        { role: "tool", tool_call_id: "c2", content: "The arguments are no JSON." },
        { role: "user", content: [{ type: "text", text: "Shown by the call c1:" }, image] },
        { role: "user", content: "And now?" },
        { role: "assistant", content: "Blue." },
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://a.example/b.jpg" } }] },
      ],
    });
  });

  it("reasoning only where its server gives it, and the old name of a bound where its server knows no other", async () => {
    const { body } = await send(
      { reasoningField: "reasoning_content", maxTokensField: "max_tokens", maxTokens: 9 },
      { messages: conversation("openai") },
    );
    expect(body.max_tokens).toBe(9);
    expect((body.messages as object[])[1]).toMatchObject({ reasoning_content: "First, the sky.Then more." });
    expect(new OpenAiProvider().capabilities.reasoning).toBe(false);
    expect(new OpenAiProvider({ reasoningField: "reasoning" }).capabilities.reasoning).toBe(true);
  });

  it("no files by their address", async () => {
    const source = { kind: "url", url: "https://a.example/x.pdf" } as const;
    const messages: LlmMessage[] = [
      { role: "user", content: [{ type: "file", mediaType: "application/pdf", source }] },
    ];
    await expect(send({}, { messages })).rejects.toMatchObject({ code: "LLM_REQUEST_REFUSED" });
  });

  it("a choice of one tool by its name", async () => {
    const { body } = await send({}, { tools: [tool], toolChoice: { name: "look" } });
    expect(body.tool_choice).toEqual({ type: "function", function: { name: "look" } });
  });

  it("nothing where options cannot be", () => {
    const odd =
      (options: object): (() => unknown) =>
      () =>
        new OpenAiProvider(options);
    expect(odd({ maxTokensField: "limit" })).toThrow("maxTokensField");
    expect(odd({ reasoningField: "" })).toThrow("reasoningField");
  });
});

describe("Gemini is sent", () => {
  const send = (options: GeminiProviderOptions, request?: Partial<LlmRequest>): Promise<Received> =>
    sent(gemini, GeminiProvider, options, request);

  it("a whole conversation, its signatures where they were", async () => {
    const { path, body } = await send(
      { model: "gemini-x" },
      { ...settings, messages: conversation("gemini") },
    );
    expect(path).toBe("/v1beta/models/gemini-x:generateContent");
    const image = { inlineData: { data: PNG, mimeType: "image/png" } };
    expect(body).toEqual({
      systemInstruction: { role: "user", parts: [{ text: "Be kind." }] },
      generationConfig: { maxOutputTokens: 50, temperature: 0.5, stopSequences: ["END"] },
      tools: [
        {
          functionDeclarations: [
            { name: "look", description: "Looks at something", parametersJsonSchema: tool.inputSchema },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY" } },
      contents: [
        {
          role: "user",
          parts: [
            { text: "What is this?" },
            image,
            { inlineData: { data: "JVBERi0=", mimeType: "application/pdf" } },
          ],
        },
        {
          role: "model",
          parts: [
            { thought: true, text: "First, the sky.", thoughtSignature: "c2ln" },
            { text: "One moment.", thoughtSignature: "b3BhcXVl" },
            { functionCall: { id: "c1", name: "look", args: { at: "sky" } }, thoughtSignature: "c2lnMQ" },
            { thought: true, text: "Then more.", thoughtSignature: "c2lnMg" },
            { functionCall: { id: "c2", name: "look", args: {} } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "c1", name: "look", response: { output: "blue" } } },
            image,
            {
              functionResponse: { id: "c2", name: "look", response: { error: "The arguments are no JSON." } },
            },
            { text: "And now?" },
          ],
        },
        { role: "model", parts: [{ text: "Blue." }] },
        {
          role: "user",
          parts: [{ fileData: { fileUri: "https://a.example/b.jpg", mimeType: "image/jpeg" } }],
        },
      ],
    });
  });

  it("thoughts as they were asked for, and a choice of one tool by its name", async () => {
    expect((await send({ includeThoughts: true })).body).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    });
    expect((await send({})).body.generationConfig).toEqual({});
    const { body } = await send({}, { tools: [tool], toolChoice: { name: "look" } });
    expect(body.toolConfig).toEqual({
      functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] },
    });
    expect(() => new GeminiProvider({ includeThoughts: "yes" as unknown as boolean })).toThrow(
      "includeThoughts",
    );
  });
});
