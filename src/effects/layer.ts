// Layers: what the ring is made of, and how they become one call.
//
// Owns       the way inwards: which layer comes after which, and whether a middleware may take it.
// Leaves     which layers there are to ring.ts, what is innermost to whoever runs the effect.
//
// Y1  Layers are composed once, when the ring is made: a call makes the `next` of each middleware, and nothing else.
// Y2  A check that answers at once costs no promise: under checks alone an effect is called as it is without a ring.
// Y3  Middleware goes on at most once for each attempt it means to make: again only when what it got last was a failure.
//     Anything else would do in the world what nobody recorded (NEXT_MISUSED).
// Y4  What has to stand in the very thread of the effect is passed by when the effect runs in another: it stands there too.
// Y5  A result that a middleware does not look at harms nobody: it makes no unhandled rejection.

import { HeddleError, isThenable } from "../kernel/index.js";
import type { EffectContext, EffectMiddleware } from "./effect.js";
import { promised, rejected } from "./promised.js";

/** A layer that only says no, by throwing or rejecting. */
export interface RingCheck {
  check(ctx: EffectContext, input: unknown): void | Promise<void>;
}

/** A layer in the thread of the effect (Y4), around the calls that need it. */
export interface RingGuard {
  isNeeded(input: unknown): boolean;
  readonly around: EffectMiddleware;
}

export type RingLayer = EffectMiddleware | RingCheck | RingGuard;

/** What the layers stand around. */
export type Innermost = (input: unknown, ctx: EffectContext) => unknown;

/** All layers as one call. Gives what the effect gives, or a promise of it. */
export type Passage = (
  ctx: EffectContext,
  input: unknown,
  innermost: Innermost,
  isElsewhere: boolean,
) => unknown;

/** Outermost first. Undefined when there is none. */
export function passageThrough(layers: readonly RingLayer[]): Passage | undefined {
  if (layers.length === 0) return undefined;
  return layers.reduceRight<Passage>(layered, (ctx, input, innermost) => innermost(input, ctx));
}

function layered(inwards: Passage, layer: RingLayer): Passage {
  if (typeof layer === "function") return around(layer, inwards);
  return "check" in layer ? behind(layer, inwards) : inside(layer, inwards);
}

/** Y4 */
function inside(guard: RingGuard, inwards: Passage): Passage {
  const guarded = around(guard.around, inwards);
  return (ctx, input, innermost, isElsewhere) => {
    const way = isElsewhere || !guard.isNeeded(input) ? inwards : guarded;
    return way(ctx, input, innermost, isElsewhere);
  };
}

/** Y2 */
function behind(layer: RingCheck, inwards: Passage): Passage {
  return (ctx, input, innermost, isElsewhere) => {
    const pending = layer.check(ctx, input);
    return isThenable(pending)
      ? Promise.resolve(pending).then(() => inwards(ctx, input, innermost, isElsewhere))
      : inwards(ctx, input, innermost, isElsewhere);
  };
}

function around(layer: EffectMiddleware, inwards: Passage): Passage {
  return (ctx, input, innermost, isElsewhere) => {
    let mayGoOn = true;
    const failed = (): void => {
      mayGoOn = true;
    };
    return layer(ctx, input, (...changed) => {
      if (!mayGoOn) throw calledTwice(ctx); // Y3
      mayGoOn = false;
      const [value, context] = changed;
      const result = promiseOf(
        inwards,
        context ?? ctx,
        changed.length > 0 ? value : input,
        innermost,
        isElsewhere,
      );
      result.then(undefined, failed); // Y5
      return result;
    });
  };
}

function promiseOf(inwards: Passage, ...call: Parameters<Passage>): Promise<unknown> {
  try {
    return promised(inwards(...call));
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
