// Meta tools: calls the loop answers itself. No effect runs; what they find or fetch is recorded as a decision.

import type { LlmText, LlmToolCall, LlmToolSpec } from "../../llm/index.js";

export interface MetaTool {
  /** How a model is told of it. No other tool has its name. */
  readonly spec: LlmToolSpec;
  /**
   * Answers a call. Calls of one turn are answered in their order, one after the other: each may add to the menu.
   *
   * @param stepId of the call, from which the decision gets its id
   */
  answer(call: Pick<LlmToolCall, "input">, stepId: string): Promise<MetaAnswer>;
}

export interface MetaAnswer {
  readonly content: LlmText;
  /** Why it is none. */
  readonly error?: string;
  /** The decision whose `content` this is. Absent: nothing holds it, it follows from the call and from what is recorded. */
  readonly decisionId?: string;
}

/** An answer that nothing is recorded of. */
export function refusal(error: string, message: string): MetaAnswer {
  return { content: errorText(error, message), error };
}

export function errorText(error: string, message: string): string {
  return JSON.stringify({ error, message });
}
