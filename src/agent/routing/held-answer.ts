// Where a state has the answer of a turn: in a step, of whichever tier, or in a decision where models are asked directly.

import type { ExecutionState } from "../../kernel/index.js";
import type { LlmResponse } from "../../llm/index.js";
import { tierStepId } from "./turn-reasoner.js";

/** The answer that was taken of those that were asked for under this id. */
export function heldAnswer(
  { frames, decisions }: Pick<ExecutionState, "frames" | "decisions">,
  stepId: string,
): LlmResponse | undefined {
  const step = last((attempt) => frames[tierStepId(stepId, attempt)]);
  if (step) return step.output as LlmResponse | undefined;
  const decision = last((attempt) => decisions[`${stepId}:answer:${attempt}`]);
  return (decision as { readonly response?: LlmResponse } | undefined)?.response;
}

/** The last one before there is none. */
function last<T>(at: (attempt: number) => T | undefined): T | undefined {
  let found: T | undefined;
  for (let attempt = 0; ; attempt++) {
    const next = at(attempt);
    if (next === undefined) return found;
    found = next;
  }
}
