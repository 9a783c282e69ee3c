// Layers: what the ring is made of, and how they become one call.
//
// Owns       the way inwards: which layer comes after which, and whether a middleware may take it.
// Leaves     which layers there are to ring.ts, what is innermost to whoever runs the effect.
//
// Y1  Layers are composed once, when the ring is made: a call makes the `next` of each middleware, and nothing else.
// Y2  A check that answers at once costs no promise: under checks alone an effect is called as it is without a ring.
// Y3  Middleware goes on at most once for each attempt it means to make: again only when what it got last was a failure.
//     Anything else would do in the world what nobody recorded (NEXT_MISUSED).
// Y4  A result that a middleware does not look at harms nobody: it makes no unhandled rejection.

import { HeddleError, isThenable } from "../kernel/index.js";
import type { EffectContext, EffectMiddleware } from "./effect.js";
import { promised, rejected } from "./promised.js";

/** A layer that only says no, by throwing or rejecting. */
export interface RingCheck {
  check(ctx: EffectContext, input: unknown): void | Promise<void>;
}

export type RingLayer = EffectMiddleware | RingCheck;

/** What the layers stand around. */
export type Innermost = (input: unknown) => unknown;

/** All layers as one call. Gives what the effect gives, or a promise of it. */
export type Passage = (ctx: EffectContext, input: unknown, innermost: Innermost) => unknown;

/** Outermost first. Undefined when there is none. */
export function passageThrough(layers: readonly RingLayer[]): Passage | undefined {
  if (layers.length === 0) return undefined;
  return layers.reduceRight<Passage>(
    (inwards, layer) => (typeof layer === "function" ? around(layer, inwards) : behind(layer, inwards)),
    (_ctx, input, innermost) => innermost(input),
  );
}

/** Y2 */
function behind(layer: RingCheck, inwards: Passage): Passage {
  return (ctx, input, innermost) => {
    const pending = layer.check(ctx, input);
    return isThenable(pending)
      ? Promise.resolve(pending).then(() => inwards(ctx, input, innermost))
      : inwards(ctx, input, innermost);
  };
}

function around(layer: EffectMiddleware, inwards: Passage): Passage {
  return (ctx, input, innermost) => {
    let mayGoOn = true;
    const failed = (): void => {
      mayGoOn = true;
    };
    return layer(ctx, input, (...changed) => {
      if (!mayGoOn) throw calledTwice(ctx); // Y3
      mayGoOn = false;
      const result = promiseOf(() => inwards(ctx, changed.length > 0 ? changed[0] : input, innermost));
      result.then(undefined, failed); // Y4
      return result;
    });
  };
}

function promiseOf(call: () => unknown): Promise<unknown> {
  try {
    return promised(call());
  } catch (error) {
    return rejected(error);
  }
}

function calledTwice({ toolId, stepId }: EffectContext): HeddleError {
  return new HeddleError(
    "NEXT_MISUSED",
    `A middleware called next() again around effect ${toolId} in step ${stepId}, though its first call had not failed. ` +
      "Call it once, or once more for each failure that is to be tried again.",
    { details: { toolId, stepId } },
  );
}

/** For what goes on when nobody waits for it any more. */
export function calledLate({ toolId, stepId }: EffectContext): HeddleError {
  return new HeddleError(
    "NEXT_MISUSED",
    `A middleware called next() around effect ${toolId} in step ${stepId} when the attempt was over: the effect did not run.`,
    { details: { toolId, stepId } },
  );
}
