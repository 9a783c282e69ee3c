// Capture: what becomes of a model's reasoning when it comes. The text goes into the store first, durably; then the parts that name it
// are recorded, in the step's result and in one event.

import type { EffectContext } from "../../effects/index.js";
import type { ReasoningBlock, ReasoningPart } from "../../llm/index.js";
import { type ReasoningStore, seal } from "./sealed-text.js";

/** The event that names the reasoning of one call. It mentions the texts and does not hold on to them: they stay erasable. */
export const REASONING_CAPTURED = "LLM_REASONING_CAPTURED";

export interface CapturedReasoning {
  readonly stepId: string;
  readonly attempt: number;
  /** A log does not hold on to content that is named beside this. */
  readonly erasable: true;
  readonly parts: readonly ReasoningPart[];
}

/** What parts are stamped with, so that it can be told later whether the vendor will take them back. */
export interface Provenance {
  /** Which of several routes to models asked, where there are several. */
  readonly route?: string | undefined;
  /** A digest of the tools the model was shown. */
  readonly menu: string;
}

/** @throws what the store fails with: an answer whose evidence could not be kept is none */
export async function captureReasoning(
  blocks: readonly ReasoningBlock[],
  store: ReasoningStore,
  { route, menu }: Provenance,
  ctx: EffectContext,
): Promise<readonly ReasoningPart[]> {
  const { executionId, stepId, attempt } = ctx;
  const parts: ReasoningPart[] = [];
  for (const { text, ...block } of blocks) {
    const part: ReasoningPart = { ...block, menu, ...(route !== undefined && { route }) };
    if (!text) parts.push(part);
    else if (ctx.isPrivate?.(text)) parts.push({ ...part, unstored: true });
    else parts.push({ ...part, ...(await seal(store, { executionId, stepId, text })) });
  }
  if (parts.length > 0) {
    const captured: CapturedReasoning = { stepId, attempt, erasable: true, parts };
    ctx.emit(REASONING_CAPTURED, captured);
  }
  return parts;
}
