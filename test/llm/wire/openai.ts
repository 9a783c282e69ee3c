import { OpenAiProvider } from "../../../src/llm/index.js";
import { json } from "./server.js";
import type { Spoken, Vendor } from "./vendor.js";

const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const DONE = "data: [DONE]\n\n";

interface Said {
  readonly content?: string | null;
  readonly refusal?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    id: string;
    type: "function";
    function: { name: string; arguments: string };
  }[];
}

const usage = {
  prompt_tokens: 123,
  completion_tokens: 9,
  total_tokens: 132,
  prompt_tokens_details: { cached_tokens: 100 },
};

const chunk = (delta: object, finish_reason: string | null = null): string =>
  frame({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "gpt-test",
    choices: [{ index: 0, delta, finish_reason }],
  });

const cut = (text: string): string[] => text.match(/.{1,5}/gsu) ?? [];

function framesOf(said: Said, finish: string): string[] {
  return [
    chunk({ role: "assistant", content: "" }),
    ...cut(said.reasoning_content ?? "").map((piece) => chunk({ reasoning_content: piece })),
    ...cut(said.content ?? "").map((content) => chunk({ content })),
    ...cut(said.refusal ?? "").map((refusal) => chunk({ refusal })),
    ...(said.tool_calls ?? []).flatMap((call, index) => [
      chunk({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: "" } }] }),
      ...cut(call.function.arguments).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    chunk({}, finish),
    frame({ id: "c1", object: "chat.completion.chunk", created: 1, model: "gpt-test", choices: [], usage }),
    DONE,
  ];
}

function spoken(
  title: string,
  said: Said,
  finish: string,
  expected: Omit<Spoken["expected"], "usage" | "model">,
): Spoken {
  return {
    title,
    whole: {
      id: "c1",
      object: "chat.completion",
      created: 1,
      model: "gpt-test",
      choices: [
        {
          index: 0,
          finish_reason: finish,
          message: { role: "assistant", content: null, refusal: null, ...said },
        },
      ],
      usage,
    },
    frames: framesOf(said, finish),
    expected: {
      ...expected,
      usage: { inputTokens: 123, outputTokens: 9, cachedTokens: 100 },
      model: "gpt-test",
    },
  };
}

const call = (id: string, name: string, written: string) => ({
  id,
  type: "function" as const,
  function: { name, arguments: written },
});

const error = (status: number, fields: object, headers = {}) =>
  json({ error: { type: "invalid_request_error", param: null, code: null, ...fields } }, status, headers);

const CODES: Readonly<Record<number, string>> = {
  401: "invalid_api_key",
  404: "model_not_found",
  429: "rate_limit_exceeded",
};

export const openAi: Vendor = {
  name: "openai",
  open: ({ baseUrl, ...options }) =>
    new OpenAiProvider({
      ...options,
      reasoningField: "reasoning_content",
      ...(baseUrl !== undefined && { baseUrl: `${baseUrl}/v1` }),
    }),
  keyVariable: "OPENAI_API_KEY",
  reservedHeaders: ["Authorization", "Content-Type"],
  keyIn: (headers) => headers.authorization?.toString().replace("Bearer ", ""),
  spoken: [
    spoken("text", { content: "Grüße, 世界 👩‍👩‍👧!" }, "stop", {
      content: "Grüße, 世界 👩‍👩‍👧!",
      stopReason: "end",
    }),
    spoken(
      "two calls beside a text",
      {
        content: "Let me look.",
        tool_calls: [call("call_1", "look", '{"at":"the sea","deep":[1,null]}'), call("call_2", "now", "")],
      },
      "tool_calls",
      {
        content: "Let me look.",
        toolCalls: [
          { id: "call_1", name: "look", input: { at: "the sea", deep: [1, null] } },
          { id: "call_2", name: "now", input: {} },
        ],
        stopReason: "toolUse",
      },
    ),
    spoken(
      "arguments that are no JSON, and a server that says stop",
      { content: null, tool_calls: [call("call_1", "look", '{"at": "the')] },
      "stop",
      {
        content: "",
        toolCalls: [{ id: "call_1", name: "look", input: undefined, malformed: '{"at": "the' }],
        stopReason: "toolUse",
      },
    ),
    spoken("reasoning", { content: "It rains.", reasoning_content: "Clouds, so rain." }, "stop", {
      content: "It rains.",
      reasoning: [{ kind: "reasoning", provider: "openai", text: "Clouds, so rain." }],
      stopReason: "end",
    }),
    spoken("an answer that was cut", { content: "To be contin" }, "length", {
      content: "To be contin",
      stopReason: "maxTokens",
    }),
    spoken("a refusal", { refusal: "I will not." }, "stop", {
      content: "I will not.",
      stopReason: "contentFilter",
    }),
    spoken("a stop nobody knows", { content: "x" }, "new_reason", { content: "x", stopReason: "other" }),
  ],
  error: (status, message) =>
    error(status, { message, code: CODES[status] ?? null }, status === 429 ? { "retry-after": "7" } : {}),
  tooLong: () =>
    error(400, {
      message: "This model's maximum context length is 128000 tokens.",
      param: "messages",
      code: "context_length_exceeded",
    }),
  errorFrame: frame({
    error: { message: "The server had an error", type: "server_error", param: null, code: null },
  }),
};
