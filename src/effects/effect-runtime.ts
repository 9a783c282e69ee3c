// EffectRuntime: the registry of effects, and the ring around them.

import { checkId, checkTerms, EffectModeViolationError, HeddleError } from "../kernel/index.js";
import { type Effect, type EffectContext, isRemote } from "./effect.js";
import { type Innermost, type Passage, passageThrough, type RingLayer } from "./layer.js";
import { promised, rejected } from "./promised.js";
import { TransientContext, type TransientOptions } from "./transient-context.js";

export class EffectRuntime {
  readonly #effects = new Map<string, Effect>();
  #passage: Passage | undefined;

  /** @param layers what stands around every effect, outermost first: middleware, or the list of `ring()` */
  constructor(layers: readonly RingLayer[] = []) {
    this.#passage = passageThrough(layers);
  }

  /** Whether anything stands around effects. */
  get hasRing(): boolean {
    return this.#passage !== undefined;
  }

  /** From now on these stand around every effect. What is on its way in goes on through those before. */
  surround(layers: readonly RingLayer[]): void {
    this.#passage = passageThrough(layers);
  }

  /** Makes an effect runnable under `id`. The same effect may be registered again; another one is a conflict. */
  register<TIn, TOut>(id: string, effect: Effect<TIn, TOut>): void {
    checkId("effect id", id);
    if (typeof effect?.execute !== "function") {
      throw new HeddleError(
        "CONFIG_INVALID",
        `Effect ${id} has no execute function: wrap it, as in new ToolEffect(async (input, ctx) => ...).`,
      );
    }
    checkTerms(`Effect ${id}`, effect);
    const known = this.#effects.get(id);
    if (known !== undefined && known !== effect) {
      throw new HeddleError(
        "DEFINITION_CONFLICT",
        `Another effect is registered as ${id}; give one of them another id.`,
        { details: { id } },
      );
    }
    this.#effects.set(id, effect);
  }

  find(id: string): Effect | undefined {
    return this.#effects.get(id);
  }

  /** Everything registered, by id. */
  entries(): Iterable<readonly [id: string, effect: Effect]> {
    return this.#effects.entries();
  }

  /**
   * Calls an effect outside of any execution, under the same middleware. Nothing of it is recorded anywhere, and nothing
   * repeats it after a crash: for reads that a person's clicking drives, not for facts.
   *
   * @throws EFFECT_UNKNOWN, EFFECT_MODE_VIOLATION for an effect declared as journaled, and whatever the effect throws
   */
  invokeTransient<TOut = unknown>(id: string, input: unknown, options?: TransientOptions): Promise<TOut> {
    try {
      const effect = this.#effects.get(id);
      if (!effect) throw effectUnknown(`Effect ${id} is not registered`, id);
      if (effect.mode === "journaled") throw new EffectModeViolationError(id, "journaled");
      const context = new TransientContext(id, effect.kind, options);
      const passage = this.#passage;
      if (!passage) return promised(effect.execute(input, context) as TOut | Promise<TOut>);
      return promised(
        passage(context, input, (value, ctx) => effect.execute(value, ctx), isRemote(effect)) as
          | TOut
          | Promise<TOut>,
      );
    } catch (error) {
      return rejected(error);
    }
  }

  /** Runs `innermost` under the ring. Without one this is a plain call. `isElsewhere`: it calls an effect in another thread. */
  run(ctx: EffectContext, input: unknown, innermost: Innermost, isElsewhere: boolean): unknown {
    return this.#passage ? this.#passage(ctx, input, innermost, isElsewhere) : innermost(input, ctx);
  }
}

export function effectUnknown(complaint: string, toolId: string): HeddleError {
  return new HeddleError("EFFECT_UNKNOWN", `${complaint}: register it in execution.registerEffects.`, {
    details: { toolId },
  });
}
