import { AnthropicProvider } from "../../../src/llm/index.js";
import { json } from "./server.js";
import type { Spoken, Vendor } from "./vendor.js";

const frame = (event: Record<string, unknown>): string =>
  `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;

const message = (content: unknown[], stop_reason: string, usage: object) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-test",
  content,
  stop_reason,
  stop_sequence: null,
  usage,
});

/** The frames in which Anthropic streams these blocks: every text in several pieces. */
function framesOf(
  content: readonly Record<string, unknown>[],
  stop_reason: string,
  usage: Record<string, unknown>,
): string[] {
  const start = { ...usage, output_tokens: 1 };
  const frames = [
    frame({ type: "message_start", message: { ...message([], "", start), stop_reason: null } }),
    frame({ type: "ping" }),
  ];
  for (const [index, block] of content.entries()) {
    const delta = (one: object): number =>
      frames.push(frame({ type: "content_block_delta", index, delta: one }));
    const cut = (text: string): string[] => text.match(/.{1,5}/gsu) ?? [];
    const begin = {
      text: { type: "text", text: "" },
      thinking: { type: "thinking", thinking: "", signature: "" },
      tool_use: { ...block, input: {} },
    };
    const { type } = block as { type: keyof typeof begin };
    frames.push(frame({ type: "content_block_start", index, content_block: begin[type] ?? block }));
    if (type === "text") for (const text of cut(String(block.text))) delta({ type: "text_delta", text });
    if (type === "thinking") {
      for (const thinking of cut(String(block.thinking))) delta({ type: "thinking_delta", thinking });
      delta({ type: "signature_delta", signature: block.signature });
    }
    if (type === "tool_use")
      for (const partial_json of cut(JSON.stringify(block.input)))
        delta({ type: "input_json_delta", partial_json });
    frames.push(frame({ type: "content_block_stop", index }));
  }
  frames.push(
    frame({
      type: "message_delta",
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    }),
    frame({ type: "message_stop" }),
  );
  return frames;
}

function spoken(
  title: string,
  content: Record<string, unknown>[],
  [stop, stopReason]: readonly [string, Spoken["expected"]["stopReason"]],
  expected: Omit<Spoken["expected"], "stopReason" | "usage" | "model">,
): Spoken {
  const usage = {
    input_tokens: 20,
    output_tokens: 9,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 3,
  };
  return {
    title,
    whole: message(content, stop, usage),
    frames: framesOf(content, stop, usage),
    expected: {
      ...expected,
      stopReason,
      usage: { inputTokens: 123, outputTokens: 9, cachedTokens: 100 },
      model: "claude-test",
    },
  };
}

const error = (status: number, type: string, text: string, headers = {}) =>
  json({ type: "error", error: { type, message: text }, request_id: "req_1" }, status, {
    "request-id": "req_1",
    ...headers,
  });

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

export const anthropic: Vendor = {
  name: "anthropic",
  open: (options) => new AnthropicProvider(options),
  keyVariable: "ANTHROPIC_API_KEY",
  reservedHeaders: ["X-Api-Key", "authorization", "Anthropic-Version", "content-type"],
  keyIn: (headers) => headers.authorization?.toString().replace("Bearer ", ""),
  spoken: [
    spoken("text", [{ type: "text", text: "Grüße, 世界 👩‍👩‍👧!" }], ["end_turn", "end"], {
      content: "Grüße, 世界 👩‍👩‍👧!",
    }),
    spoken(
      "two calls beside a text",
      [
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "toolu_1", name: "look", input: { at: "the sea", deep: [1, null] } },
        { type: "tool_use", id: "toolu_2", name: "now", input: {} },
      ],
      ["tool_use", "toolUse"],
      {
        content: "Let me look.",
        toolCalls: [
          { id: "toolu_1", name: "look", input: { at: "the sea", deep: [1, null] } },
          { id: "toolu_2", name: "now", input: {} },
        ],
      },
    ),
    spoken(
      "reasoning in between",
      [
        { type: "thinking", thinking: "First, the weather.", signature: "c2ln" },
        { type: "text", text: "One moment." },
        { type: "redacted_thinking", data: "b3BhcXVl" },
        { type: "tool_use", id: "toolu_1", name: "look", input: { at: "sky" } },
        { type: "thinking", thinking: "", signature: "b21pdHRlZA" },
        { type: "tool_use", id: "toolu_2", name: "look", input: { at: "sea" } },
      ],
      ["tool_use", "toolUse"],
      {
        content: "One moment.",
        toolCalls: [
          { id: "toolu_1", name: "look", input: { at: "sky" } },
          { id: "toolu_2", name: "look", input: { at: "sea" } },
        ],
        reasoning: [
          { kind: "reasoning", provider: "anthropic", text: "First, the weather.", signature: "c2ln" },
          { kind: "redacted", provider: "anthropic", signature: "b3BhcXVl", after: { chars: 11, calls: 0 } },
          {
            kind: "reasoning",
            provider: "anthropic",
            text: "",
            signature: "b21pdHRlZA",
            after: { chars: 11, calls: 1 },
          },
        ],
      },
    ),
    spoken("an answer that was cut", [{ type: "text", text: "To be contin" }], ["max_tokens", "maxTokens"], {
      content: "To be contin",
    }),
    spoken("a refusal", [], ["refusal", "contentFilter"], { content: "" }),
    spoken("a stop nobody knows", [{ type: "text", text: "x" }], ["new_reason", "other"], { content: "x" }),
  ],
  error: (status, text) =>
    error(status, TYPES[status] ?? "api_error", text, status === 429 ? { "retry-after": "7" } : {}),
  tooLong: () => error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
  errorFrame: frame({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
};
