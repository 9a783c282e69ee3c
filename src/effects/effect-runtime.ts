// EffectRuntime: the registry of effects and the ring of middleware around them, outermost first.

import { checkId, EffectModeViolationError, HeddleError } from "../kernel/index.js";
import type { Effect, EffectContext, EffectMiddleware } from "./effect.js";
import { TransientContext, type TransientOptions } from "./transient-context.js";

export class EffectRuntime {
  readonly #effects = new Map<string, Effect>();
  readonly #middleware: readonly EffectMiddleware[];

  constructor(middleware: readonly EffectMiddleware[] = []) {
    this.#middleware = middleware;
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
      if (this.#middleware.length === 0)
        return promised(effect.execute(input, context) as TOut | Promise<TOut>);
      return this.#wrapped(0, context, input, (value) => effect.execute(value, context)) as Promise<TOut>;
    } catch (error) {
      return failed(error);
    }
  }

  /** Runs `innermost` under the ring. Without middleware this is a plain call. */
  run(ctx: EffectContext, input: unknown, innermost: (input: unknown) => unknown): unknown {
    return this.#middleware.length === 0 ? innermost(input) : this.#wrapped(0, ctx, input, innermost);
  }

  async #wrapped(
    depth: number,
    ctx: EffectContext,
    input: unknown,
    innermost: (input: unknown) => unknown,
  ): Promise<unknown> {
    const layer = this.#middleware[depth];
    if (!layer) return innermost(input);
    return layer(ctx, input, (...changed) =>
      this.#wrapped(depth + 1, ctx, changed.length > 0 ? changed[0] : input, innermost),
    );
  }
}

async function failed(error: unknown): Promise<never> {
  throw error;
}

// Without a promise of our own where the effect made one: this is the whole cost of an ambient call.
function promised<T>(result: T | Promise<T>): Promise<T> {
  return result instanceof Promise ? result : Promise.resolve(result);
}

export function effectUnknown(complaint: string, toolId: string): HeddleError {
  return new HeddleError("EFFECT_UNKNOWN", `${complaint}: register it in execution.registerEffects.`, {
    details: { toolId },
  });
}
