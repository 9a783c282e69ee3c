// streamTokenBudget: cuts a model's stream while it generates, instead of letting it finish and refusing the next call.
//
// How many tokens a text has is estimated from the text so far: to cut at roughly the right point beats exact figures that come
// when the money is spent.

import { HeddleError } from "../kernel/index.js";

export type StreamVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly error: HeddleError };

/** Asked after each piece of a stream, with the whole text so far. It keeps nothing, so one serves any number of streams. */
export type StreamGuard = (text: string) => StreamVerdict;

export interface StreamTokenBudgetOptions {
  /** Of one stream: a whole number of at least 1. */
  readonly maxTokens: number;
  /** Tokens of a text. Default: a quarter of its UTF-16 units, which is about right for English and too little for Chinese. */
  readonly estimate?: ((text: string) => number) | undefined;
}

const ALLOWED: StreamVerdict = Object.freeze({ allowed: true });

/** @throws CONFIG_INVALID for options that are none */
export function streamTokenBudget({ maxTokens, estimate = aQuarter }: StreamTokenBudgetOptions): StreamGuard {
  if (!Number.isInteger(maxTokens) || maxTokens < 1)
    throw invalid("maxTokens", `must be a whole number of at least 1, not ${String(maxTokens)}`);
  if (typeof estimate !== "function") throw invalid("estimate", "must be a function of a text");
  return (text) => {
    const used = estimate(text);
    if (used <= maxTokens) return ALLOWED;
    if (!(used > maxTokens)) throw invalid("estimate", `must give a number, not ${String(used)}`);
    const error = new HeddleError(
      "QUOTA_EXCEEDED",
      `The stream was cut: of the ${maxTokens} tokens that a call may generate, about ${used} are there.`,
      { details: { scope: "call", meter: "tokens", limit: maxTokens, used } },
    );
    return { allowed: false, error };
  };
}

/**
 * The same pieces, as long as the guard allows them. When it does not, the source is ended (its `return` is called, which closes
 * the connection behind it) and the guard's error is thrown: in an effect it fails the step and is recorded as QUOTA_EXCEEDED.
 */
export async function* guardedStream(
  pieces: AsyncIterable<string>,
  guard: StreamGuard,
): AsyncGenerator<string, void> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    const verdict = guard(text);
    if (!verdict.allowed) throw verdict.error;
    yield piece;
  }
}

function aQuarter(text: string): number {
  return Math.ceil(text.length / 4);
}

function invalid(option: string, complaint: string): HeddleError {
  return new HeddleError("CONFIG_INVALID", `streamTokenBudget: ${option} ${complaint}.`, {
    details: { option },
  });
}
