// Residency: which idle actors stay in memory. Least recently used first out, beyond a limit.

import type { Actor } from "./actor.js";

export class Residency {
  readonly #idle = new Set<Actor>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes note that an actor became idle; returns the one that has to leave, if any. */
  admit(actor: Actor): Actor | undefined {
    this.#idle.delete(actor);
    this.#idle.add(actor);
    if (this.#idle.size <= this.#max) return undefined;
    const [oldest] = this.#idle;
    this.#idle.delete(oldest!);
    return oldest;
  }

  remove(actor: Actor): void {
    this.#idle.delete(actor);
  }

  clear(): void {
    this.#idle.clear();
  }
}
