// Answers: what a provider puts a response together with, block by block, in the vendor's order; and the way back.
//
// A message has one text, a list of calls and a list of reasoning blocks. Vendors have one list, and want the blocks of reasoning back
// exactly where they were: each block says after how much of the text and how many calls it came.

import type { AssistantMessage, LlmToolCall, ReasoningBlock } from "../message.js";
import type { LlmResponse } from "../provider.js";

export class Answer {
  #content = "";
  readonly #calls: LlmToolCall[] = [];
  readonly #reasoning: ReasoningBlock[] = [];

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  text(text: string): void {
    this.#content += text;
  }

  call(call: LlmToolCall): void {
    this.#calls.push(call);
  }

  reasoning(block: ReasoningBlock): void {
    const after = { chars: this.#content.length, calls: this.#calls.length };
    this.#reasoning.push(after.chars + after.calls > 0 ? { ...block, after } : block);
  }

  response(rest: Omit<LlmResponse, "content" | "toolCalls" | "reasoning">): LlmResponse {
    return {
      content: this.#content,
      ...(this.#calls.length > 0 && { toolCalls: this.#calls }),
      ...(this.#reasoning.length > 0 && { reasoning: this.#reasoning }),
      ...rest,
    };
  }
}

export type AnswerPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly call: LlmToolCall }
  | { readonly kind: "reasoning"; readonly block: ReasoningBlock };

/** The message in its vendor's order. Reasoning that another provider made, or whose text is not at hand, is left out. */
export function* partsOf(message: AssistantMessage, provider: string): Generator<AnswerPart> {
  const { content, toolCalls = [], reasoning = [] } = message;
  let chars = 0;
  let calls = 0;
  function* upTo(charsMax: number, callsMax: number): Generator<AnswerPart> {
    const text = content.slice(chars, charsMax);
    if (text !== "") yield { kind: "text", text };
    for (const call of toolCalls.slice(calls, callsMax)) yield { kind: "call", call };
    chars = Math.max(chars, charsMax);
    calls = Math.max(calls, callsMax);
  }
  for (const block of reasoning) {
    if (block.provider !== provider || "reference" in block) continue;
    yield* upTo(block.after?.chars ?? 0, block.after?.calls ?? 0);
    yield { kind: "reasoning", block };
  }
  yield* upTo(content.length, toolCalls.length);
}

/** The arguments of a call as a model wrote them. Nothing at all means no arguments. */
export function argumentsOf(text: string): Pick<LlmToolCall, "input" | "malformed"> {
  if (text.trim() === "") return { input: {} };
  try {
    return { input: JSON.parse(text) as unknown };
  } catch {
    return { input: undefined, malformed: text };
  }
}
