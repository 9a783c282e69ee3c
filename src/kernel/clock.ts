// Clock: time as everything below `app` sees it. The real one stands in `app`; tests and the simulator bring theirs.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once, at or after `delayMs` milliseconds (at most 2^31 - 1) from now. Returns the way to call it off. */
  after(delayMs: number, callback: () => void): () => void;
  /** Calls back after the events that are already due: the pause between two passes, in which the host breathes. */
  soon(callback: () => void): void;
}

/** The longest delay a platform timer can hold. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** `clock.after` for any delay: a longer one is waited for piece by piece, an infinite one for ever. */
export function afterLong(clock: Clock, delayMs: number, callback: () => void): () => void {
  const piece = Math.min(delayMs, TIMER_MS_MAX);
  let cancel = clock.after(piece, () => {
    if (piece === delayMs) callback();
    else cancel = afterLong(clock, delayMs - piece, callback);
  });
  return () => cancel();
}
