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

/**
 * Says when each execution is to start: late, never early. `scheduledMs` is the moment it was to. It looks at the clock in every turn of
 * the event loop, since timers are a millisecond late; so the loop never sleeps.
 */
export async function arriveBySchedule(
  { perSecond, executions }: Schedule,
  arrive: (n: number, scheduledMs: number) => void,
): Promise<void> {
  const began = performance.now();
  let next = 0;
  while (next < executions) {
    const due = Math.min(executions, Math.ceil(((performance.now() - began) * perSecond) / 1_000));
    for (; next < due; next++) arrive(next, began + (next * 1_000) / perSecond);
    await nextTurn();
  }
}

export interface OpenLoad {
  /** From the scheduled moment to the decoded output, by execution. */
  readonly latenciesMs: Float64Array;
  readonly receipts: readonly Receipt[];
}

export async function openLoad(run: (n: number) => Promise<Receipt>, schedule: Schedule): Promise<OpenLoad> {
  const latenciesMs = new Float64Array(schedule.executions);
  const receipts: Receipt[] = [];
  const arrived: Promise<void>[] = [];
  const start = async (n: number, scheduledMs: number): Promise<void> => {
    receipts[n] = await run(n);
    latenciesMs[n] = performance.now() - scheduledMs;
  };
  await arriveBySchedule(schedule, (n, scheduledMs) => arrived.push(start(n, scheduledMs)));
  await Promise.all(arrived);
  return { latenciesMs, receipts };
}
