// witness: a function that touches the world, watched. Called by a flow outside of its steps it does in the world what no log knows of,
// and does it again with every replay.

import { isInEffect } from "./effect-witness.js";

/** What was called outside of steps, in the schedule that runs just now; undefined while none does. */
let outside: string[] | undefined;

/**
 * The same function, noticed by `simulate` when a flow calls it outside of a step. Elsewhere it is the function as it is.
 *
 * @param name what a report calls it
 */
export function witness<A extends unknown[], R>(name: string, call: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    if (outside && !isInEffect()) outside.push(name);
    return call(...args);
  };
}

/** What was called outside of steps while `run` ran. */
export async function calledOutside<T>(
  run: () => Promise<T>,
): Promise<{ result: T; names: readonly string[] }> {
  const names: string[] = [];
  outside = names;
  try {
    return { result: await run(), names };
  } finally {
    outside = undefined;
  }
}
