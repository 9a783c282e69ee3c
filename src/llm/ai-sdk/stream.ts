// Streams in the words of the AI SDK. What was streamed is put together part by part, and read as a whole result is.

import type { LlmStreamEvent } from "../provider.js";
import { brokenOff } from "../sdk/failure.js";
import type { AiSdkFinishReason, AiSdkStream, AiSdkUsage } from "./model.js";
import { aiSdkResponse, type Part } from "./response.js";

/** The pieces that mean something here. */
type Piece =
  | {
      readonly type: "text-start" | "reasoning-start" | "text-end" | "reasoning-end";
      readonly id: string;
      readonly providerMetadata?: object;
    }
  | {
      readonly type: "text-delta" | "reasoning-delta";
      readonly id: string;
      readonly delta: string;
      readonly providerMetadata?: object;
    }
  | {
      readonly type: "tool-input-start";
      readonly id: string;
      readonly toolName: string;
      readonly providerExecuted?: boolean;
    }
  | { readonly type: "tool-input-delta"; readonly id: string; readonly delta: string }
  | Extract<Part, { type: "tool-call" }>
  | { readonly type: "response-metadata"; readonly modelId?: string }
  | { readonly type: "finish"; readonly finishReason: AiSdkFinishReason; readonly usage: AiSdkUsage }
  | { readonly type: "error"; readonly error: unknown };

interface Growing {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata?: object | undefined;
}

/** @throws LLM_RESPONSE_INVALID, LLM_UNAVAILABLE where the stream ends before the answer does; what the model's provider fails with */
export async function* aiSdkStream(
  stream: AiSdkStream,
  provider: string,
  modelId: string,
): AsyncGenerator<LlmStreamEvent> {
  const content: (Growing | Part)[] = [];
  const open = new Map<string, Growing>();
  const calls = new Map<string, number>();
  let model = modelId;
  for await (const piece of piecesOf(stream)) {
    switch (piece.type) {
      case "text-start":
      case "reasoning-start": {
        const part: Growing = { type: piece.type === "text-start" ? "text" : "reasoning", text: "" };
        open.set(`${part.type} ${piece.id}`, part);
        content.push(part);
        keepMetadata(part, piece);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const type = piece.type === "text-delta" ? "text" : "reasoning";
        const part = open.get(`${type} ${piece.id}`);
        if (!part) break;
        part.text += piece.delta;
        keepMetadata(part, piece);
        if (piece.delta !== "") yield { type, delta: piece.delta };
        break;
      }
      case "text-end":
      case "reasoning-end":
        keepMetadata(open.get(`${piece.type === "text-end" ? "text" : "reasoning"} ${piece.id}`), piece);
        break;
      case "tool-input-start":
        if (piece.providerExecuted) break;
        yield { type: "toolCall", index: calls.size, id: piece.id, name: piece.toolName, delta: "" };
        calls.set(piece.id, calls.size);
        break;
      case "tool-input-delta": {
        const index = calls.get(piece.id);
        if (index !== undefined) yield { type: "toolCall", index, delta: piece.delta };
        break;
      }
      case "tool-call":
        content.push(piece);
        if (calls.has(piece.toolCallId) || piece.providerExecuted) break;
        yield {
          type: "toolCall",
          index: calls.size,
          id: piece.toolCallId,
          name: piece.toolName,
          delta: piece.input,
        };
        calls.set(piece.toolCallId, calls.size);
        break;
      case "response-metadata":
        model = piece.modelId ?? model;
        break;
      case "error":
        throw piece.error;
      case "finish": {
        const { finishReason, usage } = piece;
        yield { type: "end", response: aiSdkResponse({ content, finishReason, usage }, provider, model) };
        return;
      }
      default: // What is new there, or means nothing here.
    }
  }
  throw brokenOff(provider);
}

/** The latest word counts: signatures come with the end. */
function keepMetadata(
  part: Growing | undefined,
  { providerMetadata }: { readonly providerMetadata?: object },
): void {
  if (part && providerMetadata) part.providerMetadata = providerMetadata;
}

async function* piecesOf(stream: AiSdkStream): AsyncGenerator<Piece> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value as Piece;
    }
  } finally {
    // Also when it failed, or nobody wants the rest.
    reader.cancel().catch(() => undefined);
  }
}
