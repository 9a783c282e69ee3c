// WallTime: while a simulation runs, `Date`, `setTimeout` and `setInterval` of the host are the simulation's. What a flow or an effect
// reads off the clock on the wall is then part of the schedule: a race on it is lost in one schedule and won in another.
//
// One simulation at a time has the host's clock; the next one waits.

import { AsyncResource } from "node:async_hooks";

/** What the globals are bound to. */
export interface WallClock {
  now(): number;
  /** Returns the way to call it off. */
  after(delayMs: number, callback: () => void): () => void;
}

let running: Promise<unknown> = Promise.resolve();

/** Timers of the present schedule that wait. */
const cancels = new Map<number, () => void>();

/** Whether somebody waits for simulated time to pass. */
export function isWaitedFor(): boolean {
  return cancels.size > 0;
}

/** Runs `simulate` with the globals bound to the clock it gives. */
export function withWallTime<T>(simulate: (bind: (clock: WallClock) => void) => Promise<T>): Promise<T> {
  const mine = running.then(() => bound(simulate));
  running = mine.catch(() => {});
  return mine;
}

async function bound<T>(simulate: (bind: (clock: WallClock) => void) => Promise<T>): Promise<T> {
  const real = { Date, setTimeout, clearTimeout, setInterval, clearInterval };
  const RealDate = Date;
  let clock: WallClock | undefined;
  const now = (): number => clock?.now() ?? RealDate.now();
  class SimulatedDate extends RealDate {
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [now()] : given) as [number]));
    }
    static override now(): number {
      return now();
    }
  }
  let count = 0;
  const start = (
    given: (...args: unknown[]) => void,
    delayMs: unknown,
    args: unknown[],
    repeats: boolean,
  ) => {
    const id = ++count;
    const callback = AsyncResource.bind(given); // what an effect started is still the effect's
    const wait = (): void => {
      const delay = Math.max(1, Number(delayMs) || 1);
      cancels.set(id, clock?.after(delay, fire) ?? (() => {}));
    };
    const fire = (): void => {
      cancels.delete(id);
      if (repeats) wait();
      callback(...args);
    };
    wait();
    return new SimulatedTimer(id, () => stop(id));
  };
  const stop = (timer: unknown): void => {
    const id = Number(timer);
    cancels.get(id)?.();
    cancels.delete(id);
  };
  Object.assign(globalThis, {
    Date: SimulatedDate,
    setTimeout: (callback: () => void, delayMs?: number, ...args: unknown[]) =>
      start(callback, delayMs, args, false),
    setInterval: (callback: () => void, delayMs?: number, ...args: unknown[]) =>
      start(callback, delayMs, args, true),
    clearTimeout: stop,
    clearInterval: stop,
  });
  try {
    return await simulate((next) => {
      clock = next;
      cancels.clear();
    });
  } finally {
    Object.assign(globalThis, real);
  }
}

/** As much of Node's Timeout as programs use. */
class SimulatedTimer {
  readonly #id: number;
  readonly close: () => void;

  constructor(id: number, close: () => void) {
    this.#id = id;
    this.close = close;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.toPrimitive](): number {
    return this.#id;
  }
}
