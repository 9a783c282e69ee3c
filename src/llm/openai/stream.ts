// Streams in OpenAI's words. What was streamed is put together, and read as a whole completion is.

import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { LlmStreamEvent } from "../provider.js";
import { brokenOff, malformed } from "../sdk/failure.js";
import { OPENAI } from "./names.js";
import { reasoningIn, responseOf, type Whole } from "./response.js";

type CallPiece = NonNullable<ChatCompletionChunk.Choice.Delta["tool_calls"]>[number];
type Growing = { -readonly [K in keyof Whole]: Whole[K] } & { readonly calls: GrowingCall[] };

interface GrowingCall {
  id: string;
  name: string;
  arguments: string;
}

/** @throws LLM_RESPONSE_INVALID, LLM_UNAVAILABLE where the stream ends before the answer does */
export async function* openAiStream(
  chunks: AsyncIterable<ChatCompletionChunk>,
  reasoningField: string | undefined,
): AsyncGenerator<LlmStreamEvent> {
  const whole: Growing = {
    content: "",
    refusal: "",
    reasoning: "",
    calls: [],
    finishReason: null,
    usage: undefined,
    model: "",
  };
  for await (const chunk of chunks) {
    if (typeof chunk !== "object" || chunk === null) throw malformed(OPENAI, "a piece of it is none");
    whole.model = chunk.model ?? whole.model;
    whole.usage = chunk.usage ?? whole.usage;
    const choice = chunk.choices?.[0];
    if (!choice) continue; // The figures come by themselves.
    whole.finishReason = choice.finish_reason ?? whole.finishReason;
    yield* grown(whole, choice.delta ?? {}, reasoningField);
  }
  if (whole.finishReason === null) throw brokenOff(OPENAI);
  yield { type: "end", response: responseOf(whole) };
}

function* grown(
  whole: Growing,
  delta: ChatCompletionChunk.Choice.Delta,
  reasoningField: string | undefined,
): Generator<LlmStreamEvent> {
  const thought = reasoningIn(delta, reasoningField);
  whole.reasoning += thought;
  if (thought !== "") yield { type: "reasoning", delta: thought };
  whole.content += delta.content ?? "";
  whole.refusal += delta.refusal ?? "";
  const said = (delta.content ?? "") + (delta.refusal ?? "");
  if (said !== "") yield { type: "text", delta: said };
  for (const piece of delta.tool_calls ?? []) yield grownCall(whole.calls, piece);
}

function grownCall(calls: GrowingCall[], piece: CallPiece): LlmStreamEvent {
  const { id, function: { name, arguments: delta = "" } = {} } = piece;
  const index = indexOf(calls, piece);
  const isNew = calls[index] === undefined;
  const call = (calls[index] ??= { id: id ?? "", name: name ?? "", arguments: "" });
  call.arguments += delta;
  return { type: "toolCall", index, ...(isNew && { id: call.id, name: call.name }), delta };
}

/** Some servers leave the index out, or count from elsewhere: a new id is a new call then. */
function indexOf(calls: readonly GrowingCall[], { index, id }: Partial<CallPiece>): number {
  if (index !== undefined && index >= 0 && index <= calls.length) return index;
  const isNext = calls.length === 0 || (id !== undefined && calls.at(-1)?.id !== id);
  return isNext ? calls.length : calls.length - 1;
}
