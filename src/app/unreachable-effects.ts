// The effect runtime of an app whose executions run in threads: nothing registered here would ever be called.

import { type Effect, EffectRuntime } from "../effects/index.js";
import { invalidWorkers } from "../workers/index.js";

export class UnreachableEffects extends EffectRuntime {
  override register<TIn, TOut>(id: string, _effect: Effect<TIn, TOut>): void {
    throw invalidWorkers(
      "app",
      `names the module whose effects run: effect ${id}, registered in the host's thread, would never be called. ` +
        "Register it in the module's export registerEffects",
    );
  }
}
