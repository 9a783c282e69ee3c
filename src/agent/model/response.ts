// What the log holds of a model's answer.

import type { LlmResponse, ReasoningPart } from "../../llm/index.js";

/**
 * An answer as it is recorded: what a provider gave, with the parts of its reasoning in place of the text. A model that was stopped
 * while it wrote has answered too: everything it had written is here, whatever its length, and `interrupted` says so. A call whose
 * arguments were not whole by then has them as `malformed`. No call of an interrupted answer was run.
 */
export interface ModelResponse extends Omit<LlmResponse, "reasoning"> {
  readonly reasoning?: readonly ReasoningPart[];
  /** The model was stopped by the signal of the step. `usage` is then an estimate: a quarter of the characters. */
  readonly interrupted?: true;
}
