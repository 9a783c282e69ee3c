// Streams in Anthropic's words. What was streamed is put together block by block, and read as a whole message is.

import type {
  RawContentBlockDeltaEvent,
  RawMessageStreamEvent,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { LlmStreamEvent } from "../provider.js";
import { argumentsOf } from "../sdk/answer.js";
import { brokenOff, malformed } from "../sdk/failure.js";
import { ANTHROPIC } from "./names.js";
import { type Block, type Figures, responseOf } from "./response.js";

/** A block that grows. Of a call the arguments are text until all of them are there. */
type Growing =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; json: string; input: unknown; nth: number }
  | { type: "other" };

/** @throws LLM_RESPONSE_INVALID, LLM_UNAVAILABLE where the stream ends before the message does */
export async function* anthropicStream(
  events: AsyncIterable<RawMessageStreamEvent>,
): AsyncGenerator<LlmStreamEvent> {
  const blocks = new Map<number, Growing>();
  let usage: Partial<Figures> | undefined;
  let model = "";
  let stopReason: string | null = null;
  let calls = 0;
  for await (const event of events) {
    switch (event.type) {
      case "message_start":
        model = event.message.model;
        usage = event.message.usage;
        break;
      case "content_block_start": {
        const block = begun(event.content_block, calls);
        blocks.set(event.index, block);
        if (block.type === "tool_use")
          yield { type: "toolCall", index: calls++, id: block.id, name: block.name, delta: "" };
        else if (block.type === "text" && block.text !== "") yield { type: "text", delta: block.text };
        break;
      }
      case "content_block_delta": {
        const block = blocks.get(event.index);
        if (!block) throw malformed(ANTHROPIC, "a piece belongs to no block");
        yield* grown(block, event.delta);
        break;
      }
      case "message_delta":
        stopReason = event.delta.stop_reason ?? stopReason;
        usage = { ...usage, ...known(event.usage) };
        break;
      case "message_stop": {
        const whole = [...blocks].toSorted(([a], [b]) => a - b).flatMap(([, block]) => ended(block));
        yield { type: "end", response: responseOf({ blocks: whole, stopReason, usage, model }) };
        return;
      }
      default: // What is new there, or means nothing here.
    }
  }
  throw brokenOff(ANTHROPIC);
}

function begun(
  block: Extract<RawMessageStreamEvent, { type: "content_block_start" }>["content_block"],
  nth: number,
): Growing {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "thinking", thinking: block.thinking, signature: block.signature };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: block.data };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, json: "", input: block.input, nth };
    default:
      return { type: "other" };
  }
}

function* grown(block: Growing, delta: RawContentBlockDeltaEvent["delta"]): Generator<LlmStreamEvent> {
  if (delta.type === "text_delta" && block.type === "text") {
    block.text += delta.text;
    yield { type: "text", delta: delta.text };
  } else if (delta.type === "thinking_delta" && block.type === "thinking") {
    block.thinking += delta.thinking;
    yield { type: "reasoning", delta: delta.thinking };
  } else if (delta.type === "signature_delta" && block.type === "thinking") {
    block.signature += delta.signature;
  } else if (delta.type === "input_json_delta" && block.type === "tool_use") {
    block.json += delta.partial_json;
    yield { type: "toolCall", index: block.nth, delta: delta.partial_json };
  }
}

function ended(block: Growing): Block[] {
  if (block.type === "other") return [];
  if (block.type !== "tool_use") return [block];
  const { id, name, json, input } = block;
  return [{ type: "tool_use", id, name, ...(json === "" ? { input } : argumentsOf(json)) }];
}

/** Figures of the end replace those of the beginning, where there are any. */
function known(figures: Partial<Record<keyof Figures, number | null>> | undefined): Partial<Figures> {
  return Object.fromEntries(Object.entries(figures ?? {}).filter(([, value]) => value !== null));
}
