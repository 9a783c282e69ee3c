// generate: one call of a model, whole or piece by piece. The answer is the same either way; pieces can be shown as they come, judged
// as they come, and kept when the model is stopped.
//
// E1  An attempt that is told to stop ends at once, however long the provider takes to notice: the provider's call is aborted, and
//     what it comes to is nobody's unhandled rejection.
// E2  What listens to deltas cannot stop or fail the call: a reader that leaves is no cancel (C-AGT-06).
// E3  The event loop gets its turn, also where a provider has everything at hand already (C-EFF-02).

import { setImmediate as nextTurn } from "node:timers/promises";
import type { EffectContext } from "../../effects/index.js";
import { Abortable, tell } from "../../kernel/index.js";
import {
  LlmError,
  type LlmProvider,
  type LlmRequest,
  type LlmResponse,
  type LlmStreamEvent,
} from "../../llm/index.js";
import type { StreamGuard } from "../../middleware/index.js";
import { Generation } from "./generation.js";
import { isInterruption } from "./stop.js";

/**
 * Gets text as it is generated. Nothing waits for it, and what it throws is dropped. With `flush` it is told when an answer has
 * ended, however it did.
 */
export interface DeltaSink {
  (delta: string, ctx: EffectContext): unknown;
  readonly flush?: (ctx: EffectContext) => unknown;
}

export interface Listeners {
  /** Of the answer's text. */
  readonly text?: DeltaSink | undefined;
  /** Of the model's reasoning. */
  readonly reasoning?: DeltaSink | undefined;
}

export interface Generated {
  readonly response: LlmResponse;
  /** The model was stopped: this is what it had written. */
  readonly isInterrupted: boolean;
}

const PIECES_PER_TURN = 128;

/** @throws what the provider throws, what the signal was aborted for where there is nothing to keep */
export function completed(
  provider: LlmProvider,
  request: LlmRequest,
  ctx: EffectContext,
): Promise<Generated> {
  if (Abortable.isAborted(ctx)) throw ctx.signal.reason;
  const options = {
    // Made for a provider that looks at it.
    get signal() {
      return ctx.signal;
    },
  };
  const answer = unlessAborted(provider.complete(request, options), ctx);
  return answer.then((response) => ({ response, isInterrupted: false }));
}

/**
 * @throws the guard's error, LLM_RESPONSE_INVALID for a stream that breaks off, VALUE_TOO_LARGE for one without end, what the provider
 *   throws, and what the signal was aborted for where nobody wants the rest or there is none
 */
export async function streamed(
  provider: LlmProvider & Required<Pick<LlmProvider, "stream">>,
  request: LlmRequest,
  ctx: EffectContext,
  { guard, listeners = {} }: { readonly guard?: StreamGuard | undefined; readonly listeners?: Listeners },
): Promise<Generated> {
  const { signal } = ctx;
  signal.throwIfAborted();
  const generation = new Generation(provider.id);
  const pieces = provider.stream(request, { signal })[Symbol.asyncIterator]();
  try {
    for (let count = 1; ; count++) {
      const next = await unlessAborted(pieces.next(), ctx);
      if (next.done) throw endless(provider);
      const piece = next.value;
      if (piece.type === "end") return { response: piece.response, isInterrupted: false };
      generation.take(piece);
      show(piece, ctx, listeners);
      const verdict = guard?.(generation.text);
      if (verdict && !verdict.allowed) throw verdict.error;
      if (count % PIECES_PER_TURN === 0) await nextTurn(); // E3
    }
  } catch (error) {
    const isKept = error === signal.reason && isInterruption(signal) && generation.text !== "";
    if (!isKept) throw error;
    return { response: generation.soFar(request), isInterrupted: true };
  } finally {
    tell(() => pieces.return?.()); // E1
    for (const sink of [listeners.text, listeners.reasoning]) if (sink?.flush) tell(() => sink.flush?.(ctx));
  }
}

function show(piece: LlmStreamEvent, ctx: EffectContext, { text, reasoning }: Listeners): void {
  if (piece.type === "text" && text)
    tell(() => text(piece.delta, ctx)); // E2
  else if (piece.type === "reasoning" && reasoning) tell(() => reasoning(piece.delta, ctx));
}

/** E1. One listener a call, not one promise for all calls: that would keep every piece alive until the end. */
function unlessAborted<T>(call: Promise<T>, ctx: EffectContext): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(ctx.signal.reason as Error);
    const settled = Abortable.watch(ctx, stop);
    void call.then(settled, settled);
    call.then(resolve, reject);
  });
}

function endless(provider: LlmProvider): LlmError {
  return new LlmError("LLM_RESPONSE_INVALID", `The stream of ${provider.id} ended before the answer did.`, {
    provider: provider.id,
  });
}
