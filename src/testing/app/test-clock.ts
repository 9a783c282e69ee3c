// TestClock: time that stands still until a test moves it.
//
// Owns       the instant, the callbacks that wait for a later one.
// Leaves     when to move, and how far, to advance-time.ts.
//
// What is due is called back by itself, on the next turn of the event loop: a test moves time, and nothing else.

import type { Clock } from "../../kernel/index.js";

interface Waiting {
  readonly at: number;
  readonly callback: () => void;
}

/** When tests begin: 1 January 2026, UTC. */
const DAWN = Date.UTC(2026, 0, 1);

export class TestClock implements Clock {
  #now = DAWN;
  #soon = 0;
  #isLetGo = false;
  readonly #waiting = new Set<Waiting>();

  now(): number {
    return this.#now;
  }

  /** Callbacks promised for the next turn of the event loop. */
  get pending(): number {
    return this.#soon;
  }

  after(delayMs: number, callback: () => void): () => void {
    if (this.#isLetGo) {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    }
    const waiting: Waiting = { at: this.#now + delayMs, callback };
    this.#waiting.add(waiting);
    if (delayMs <= 0) this.soon(() => this.#fire(waiting));
    return () => this.#waiting.delete(waiting);
  }

  soon(callback: () => void): void {
    this.#soon++;
    setImmediate(() => {
      this.#soon--;
      callback();
    });
  }

  /** Moves to the next callback that is due by `end`, and calls it. Without one, moves to `end` and returns false. */
  step(end: number): boolean {
    let next: Waiting | undefined;
    // Of two that are due at once the one that waits longer comes first.
    for (const waiting of this.#waiting) if (!next || waiting.at < next.at) next = waiting;
    const isDue = next !== undefined && next.at <= end;
    this.#now = Math.max(this.#now, isDue ? next!.at : end);
    if (isDue) this.#fire(next!);
    return isDue;
  }

  /** From now on waits are real: nobody moves the time of an app that is being closed. */
  letGo(): void {
    this.#isLetGo = true;
  }

  #fire(waiting: Waiting): void {
    if (this.#waiting.delete(waiting)) waiting.callback();
  }
}
