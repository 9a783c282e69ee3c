// Responses in Gemini's words. A stream is a list of responses with a few parts each; put one after the other, they are one.

import type { GenerateContentResponse, GenerateContentResponseUsageMetadata, Part } from "@google/genai";
import type { LlmResponse, LlmStreamEvent, LlmUsage, StopReason } from "../provider.js";
import { Answer } from "../sdk/answer.js";
import { brokenOff, malformed } from "../sdk/failure.js";
import { GEMINI } from "./names.js";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  STOP: "end",
  MAX_TOKENS: "maxTokens",
  SAFETY: "contentFilter",
  RECITATION: "contentFilter",
  BLOCKLIST: "contentFilter",
  PROHIBITED_CONTENT: "contentFilter",
  SPII: "contentFilter",
  IMAGE_SAFETY: "contentFilter",
};

type Piece = Pick<
  GenerateContentResponse,
  "candidates" | "promptFeedback" | "usageMetadata" | "modelVersion" | "responseId"
>;

/** @throws LLM_RESPONSE_INVALID */
export function geminiResponse(response: Piece): LlmResponse {
  const assembly = new Assembly();
  for (const _event of assembly.take(response)) continue;
  if (!assembly.isOver) throw malformed(GEMINI, "it has no candidate with an end");
  return assembly.response();
}

/** @throws LLM_RESPONSE_INVALID, LLM_UNAVAILABLE where the stream ends before the answer does */
export async function* geminiStream(pieces: AsyncIterable<Piece>): AsyncGenerator<LlmStreamEvent> {
  const assembly = new Assembly();
  for await (const piece of pieces) yield* assembly.take(piece);
  if (!assembly.isOver) throw brokenOff(GEMINI);
  yield { type: "end", response: assembly.response() };
}

class Assembly {
  readonly #answer = new Answer();
  /** Thoughts that follow on each other are one. */
  #thought: string | undefined;
  #calls = 0;
  #finishReason: string | undefined;
  #isBlocked = false;
  #usage: GenerateContentResponseUsageMetadata | undefined;
  #model = "";
  #responseId = "call";

  get isOver(): boolean {
    return this.#isBlocked || this.#finishReason !== undefined;
  }

  *take(piece: Piece): Generator<LlmStreamEvent> {
    if (typeof piece !== "object" || piece === null) throw malformed(GEMINI, "a piece of it is none");
    const [candidate] = piece.candidates ?? [];
    this.#usage = piece.usageMetadata ?? this.#usage;
    this.#model = piece.modelVersion ?? this.#model;
    this.#responseId = piece.responseId ?? this.#responseId;
    this.#isBlocked ||= piece.promptFeedback?.blockReason !== undefined;
    for (const part of candidate?.content?.parts ?? []) yield* this.#add(part);
    this.#finishReason = candidate?.finishReason ?? this.#finishReason;
  }

  response(): LlmResponse {
    this.#endThought();
    const stopReason = this.#isBlocked
      ? "contentFilter"
      : (STOP_REASONS[this.#finishReason ?? ""] ?? "other");
    return this.#answer.response({
      stopReason: stopReason === "end" && this.#answer.hasCalls ? "toolUse" : stopReason,
      ...(this.#usage && { usage: usageOf(this.#usage) }),
      model: this.#model,
    });
  }

  *#add({ text = "", thought, thoughtSignature: signature, functionCall }: Part): Generator<LlmStreamEvent> {
    if (thought) {
      this.#thought = (this.#thought ?? "") + text;
      if (signature !== undefined) this.#endThought(signature);
      if (text !== "") yield { type: "reasoning", delta: text };
      return;
    }
    this.#endThought();
    if (functionCall) {
      const index = this.#calls++;
      const { name = "", args = {} } = functionCall;
      // Older models give calls no ids.
      const id = functionCall.id || `${this.#responseId}_${index}`;
      this.#answer.call({ id, name, input: args, ...(signature !== undefined && { signature }) });
      yield { type: "toolCall", index, id, name, delta: JSON.stringify(args) };
      return;
    }
    this.#answer.text(text);
    if (text !== "") yield { type: "text", delta: text };
    // What the vendor wants back with a text is kept as a block that nobody can read, right after it.
    if (signature !== undefined) this.#answer.reasoning({ kind: "redacted", provider: GEMINI, signature });
  }

  #endThought(signature?: string): void {
    if (this.#thought === undefined) return;
    const block = { kind: "reasoning", provider: GEMINI, text: this.#thought } as const;
    this.#answer.reasoning({ ...block, ...(signature !== undefined && { signature }) });
    this.#thought = undefined;
  }
}

function usageOf(usage: GenerateContentResponseUsageMetadata): LlmUsage {
  const cached = usage.cachedContentTokenCount ?? 0;
  return {
    inputTokens: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
    outputTokens: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    ...(cached > 0 && { cachedTokens: cached }),
  };
}
