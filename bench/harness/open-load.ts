// Open load: executions that arrive by a schedule, however many are still under way.
//
// A closed load waits for one to end before it starts another, so whatever is slow also keeps others from coming, and they are not
// counted (coordinated omission). Here the time of an execution runs from the moment it was to arrive.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Receipt } from "./side.js";

export interface Schedule {
  readonly perSecond: number;
  readonly executions: number;
}

export interface OpenLoad {
  /** From the scheduled moment to the decoded output, by execution. */
  readonly latenciesMs: Float64Array;
  readonly receipts: readonly Receipt[];
}

/** Looks at the clock in every turn of the event loop, since timers are a millisecond late; so the loop never sleeps. */
export async function openLoad(
  run: (n: number) => Promise<Receipt>,
  { perSecond, executions }: Schedule,
): Promise<OpenLoad> {
  const latenciesMs = new Float64Array(executions);
  const receipts: Receipt[] = [];
  const began = performance.now();
  const arrive = async (n: number, at: number): Promise<void> => {
    receipts[n] = await run(n);
    latenciesMs[n] = performance.now() - at;
  };
  const arrived: Promise<void>[] = [];
  while (arrived.length < executions) {
    const due = Math.min(executions, Math.ceil(((performance.now() - began) * perSecond) / 1_000));
    for (let n = arrived.length; n < due; n++) arrived.push(arrive(n, began + (n * 1_000) / perSecond));
    await nextTurn();
  }
  await Promise.all(arrived);
  return { latenciesMs, receipts };
}
