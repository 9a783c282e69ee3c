// Usage of several answers together.

import type { LlmUsage } from "./provider.js";

/** Undefined where neither says. What only one of them says is taken as it is. */
export function addUsage(a: LlmUsage | undefined, b: LlmUsage | undefined): LlmUsage | undefined {
  if (!a || !b) return a ?? b;
  const cachedTokens = addedUp(a.cachedTokens, b.cachedTokens);
  const costUsd = addedUp(a.costUsd, b.costUsd);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(costUsd !== undefined && { costUsd }),
  };
}

function addedUp(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0);
}
