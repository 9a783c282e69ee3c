// EffectRuntime: the registry of effects and the ring of middleware around them, outermost first.

import { checkId, HeddleError } from "../kernel/index.js";
import type { Effect, EffectContext, EffectMiddleware } from "./effect.js";

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
