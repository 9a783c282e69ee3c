// Model usage: what the results of LLM effects say of themselves, in the shape in which clients of providers do.

import { isThenable } from "../../kernel/index.js";
import type { EffectContext } from "../effect.js";

/** `usage` of a result; what of it is no number of at least 0 is not there. */
interface ProviderUsage {
  readonly totalTokens?: unknown;
  readonly inputTokens?: unknown;
  readonly outputTokens?: unknown;
  readonly costUsd?: unknown;
}

/**
 * The same result, its usage metered once it is there; not where the effect has reported by itself, which knows better.
 *
 * @param result what an LLM effect gave, or a promise of it
 */
export function meteredByResult(result: unknown, ctx: EffectContext): unknown {
  if (isThenable(result)) return Promise.resolve(result).then((value) => noted(value, ctx));
  return noted(result, ctx);
}

function noted(value: unknown, ctx: EffectContext): unknown {
  if (ctx.account?.hasReported) return value;
  const { usage } = (value ?? {}) as { readonly usage?: ProviderUsage | null };
  if (typeof usage !== "object" || usage === null) return value;
  const { totalTokens, inputTokens, outputTokens, costUsd } = usage;
  const tokens = amountOf(totalTokens) ?? (amountOf(inputTokens) ?? 0) + (amountOf(outputTokens) ?? 0);
  const cost = amountOf(costUsd) ?? 0;
  if (tokens > 0 || cost > 0) ctx.meter({ tokens, cost });
  return value;
}

function amountOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
