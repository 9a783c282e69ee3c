// SimRandom: the one source of chance in a simulation. Everything drawn from one seed comes out the same every time, and
// streams that were forked do not disturb each other: a workload stays the same when a fault is left out.

import { fnv1a } from "../../kernel/ids.js";

export class SimRandom {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#state = this.#seed;
  }

  /** A stream of its own, the same for the same seed and purpose, whatever was drawn from this one. */
  fork(purpose: string): SimRandom {
    return new SimRandom(fnv1a(`${this.#seed} ${purpose}`));
  }

  /** From 0 up to but not including 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Draws nothing where the answer is certain, so that a fault that is off changes nothing else. */
  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  /** A whole number from 0 up to but not including `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  pick<T>(options: readonly T[]): T {
    return options[this.below(options.length)]!;
  }
}
