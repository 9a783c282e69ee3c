// SimClock: time that stands still until a test moves it.
//
// Owns       the instant, the callbacks that wait for a later one.
// Leaves     when to move to the world, which knows when nothing is left to do at this instant.
//
// `soon` is real: one turn of the event loop, as in production, because the loop's passes are built on it.

import type { Clock } from "../../src/kernel/index.js";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** 1 January 2026: an instant with a full set of digits, so that a truncated one shows. */
export const DAWN = Date.UTC(2026, 0, 1);

export class SimClock {
  #now = DAWN;
  #order = 0;
  #soon = 0;
  /** How often anything was called back, re-arms included. */
  fired = 0;
  readonly #timers = new Set<Timer>();

  get now(): number {
    return this.#now;
  }

  /** Callbacks promised for the next turn of the event loop. */
  get pendingSoon(): number {
    return this.#soon;
  }

  get nextDue(): number | undefined {
    return this.#earliest()?.at;
  }

  /** Moves to the next waiting callback and calls it. Returns false when there is none. */
  step(): boolean {
    const timer = this.#earliest();
    if (!timer) return false;
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, timer.at);
    this.fired++;
    timer.callback();
    return true;
  }

  /** Moves without calling anything back: time in which no process was alive. */
  jump(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** The clock of one process: it shares this time, and its callbacks end with it. */
  lifetime(): Lifetime {
    const mine = new Set<Timer>();
    let alive = true;
    return {
      now: () => this.#now,
      after: (delayMs, callback) => {
        if (!(delayMs >= 0 && delayMs < 2 ** 31))
          throw new RangeError(`no platform timer waits ${delayMs} ms`);
        const timer: Timer = {
          at: this.#now + delayMs,
          order: this.#order++,
          callback: () => {
            mine.delete(timer);
            callback();
          },
        };
        if (alive) {
          mine.add(timer);
          this.#timers.add(timer);
        }
        return () => this.#timers.delete(timer);
      },
      soon: (callback) => {
        this.#soon++;
        setImmediate(() => {
          this.#soon--;
          if (alive) callback();
        });
      },
      end: () => {
        alive = false;
        for (const timer of mine) this.#timers.delete(timer);
        mine.clear();
      },
    };
  }

  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (!earliest || timer.at < earliest.at || (timer.at === earliest.at && timer.order < earliest.order)) {
        earliest = timer;
      }
    }
    return earliest;
  }
}

export interface Lifetime extends Clock {
  /** Nothing is called back any more, as after a kill. */
  end(): void;
}
