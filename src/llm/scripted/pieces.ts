import type { LlmResponse, LlmStreamEvent } from "../provider.js";

/** A response in pieces, the way providers stream it: reasoning, text, calls. The end is not among them. */
export function* piecesOf(response: LlmResponse, chars: number): Generator<LlmStreamEvent> {
  for (const { text = "" } of response.reasoning ?? []) {
    for (const delta of cut(text, chars)) yield { type: "reasoning", delta };
  }
  for (const delta of cut(response.content, chars)) yield { type: "text", delta };
  for (const [index, { id, name, input, malformed }] of (response.toolCalls ?? []).entries()) {
    yield { type: "toolCall", index, id, name, delta: "" };
    for (const delta of cut(malformed ?? JSON.stringify(input), chars))
      yield { type: "toolCall", index, delta };
  }
}

/** Never inside a character: a provider's JSON cannot hold half of one. */
function cut(text: string, chars: number): readonly string[] {
  return text.match(new RegExp(`.{1,${chars}}`, "gsu")) ?? [];
}
