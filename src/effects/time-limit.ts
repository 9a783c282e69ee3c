// TimeLimit: the time an attempt may take in this thread. It stands still while the effect runs elsewhere and is timed there; when
// the call is back, what is around it gets the same time again.

import { afterLong, type Clock } from "../kernel/index.js";

export class TimeLimit {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #reached: () => void;
  #cancel: (() => void) | undefined;
  #isOver = false;

  constructor(clock: Clock, timeoutMs: number, reached: () => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#reached = reached;
  }

  run(): void {
    if (this.#isOver) return;
    this.#cancel ??= afterLong(this.#clock, this.#timeoutMs, () => {
      this.end();
      this.#reached();
    });
  }

  /** For good. */
  end(): void {
    this.#isOver = true;
    this.#pause();
  }

  /** Awaits a call that is not timed here. */
  async except<T>(call: () => Promise<T>): Promise<T> {
    this.#pause();
    try {
      return await call();
    } finally {
      this.run();
    }
  }

  #pause(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
