// Responses in Anthropic's words, whole or put together from a stream.

import type { Message, Usage } from "@anthropic-ai/sdk/resources/messages/messages";
import type { LlmToolCall } from "../message.js";
import type { LlmResponse, LlmUsage, StopReason } from "../provider.js";
import { Answer } from "../sdk/answer.js";
import { malformed } from "../sdk/failure.js";
import { ANTHROPIC } from "./names.js";

/** The blocks that mean something here. Others are the vendor's own tools, which no request asks for. */
export type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | ({ readonly type: "tool_use" } & LlmToolCall);

export type Figures = Pick<
  Usage,
  "input_tokens" | "output_tokens" | "cache_creation_input_tokens" | "cache_read_input_tokens"
>;

export interface Whole {
  readonly blocks: Iterable<Block>;
  readonly stopReason: string | null;
  readonly usage: Partial<Figures> | undefined;
  readonly model: string;
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "end",
  tool_use: "toolUse",
  max_tokens: "maxTokens",
  model_context_window_exceeded: "maxTokens",
  stop_sequence: "stopSequence",
  refusal: "contentFilter",
};

/** @throws LLM_RESPONSE_INVALID */
export function anthropicResponse(message: Message): LlmResponse {
  if (typeof message !== "object" || message === null || !Array.isArray(message.content))
    throw malformed(ANTHROPIC, "it has no content");
  const { content, stop_reason, usage, model } = message;
  const blocks = content.flatMap((block): Block[] => {
    switch (block.type) {
      case "text":
      case "thinking":
      case "redacted_thinking":
        return [block];
      case "tool_use":
        return [{ type: "tool_use", id: block.id, name: block.name, input: block.input }];
      default:
        return [];
    }
  });
  return responseOf({ blocks, stopReason: stop_reason, usage, model });
}

export function responseOf({ blocks, stopReason, usage, model }: Whole): LlmResponse {
  const answer = new Answer();
  for (const block of blocks) {
    if (block.type === "text") answer.text(block.text);
    else if (block.type === "thinking") {
      const { thinking: text, signature } = block;
      answer.reasoning({ kind: "reasoning", provider: ANTHROPIC, text, ...(signature && { signature }) });
    } else if (block.type === "redacted_thinking")
      answer.reasoning({ kind: "redacted", provider: ANTHROPIC, signature: block.data });
    else {
      const { type: _type, ...call } = block;
      answer.call(call);
    }
  }
  return answer.response({
    stopReason: STOP_REASONS[stopReason ?? ""] ?? "other",
    ...(usage && { usage: usageOf(usage) }),
    model,
  });
}

/** What is written to or read from the cache is counted apart there. */
function usageOf(usage: Partial<Figures>): LlmUsage {
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    inputTokens: (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + cached,
    outputTokens: usage.output_tokens ?? 0,
    ...(cached > 0 && { cachedTokens: cached }),
  };
}
