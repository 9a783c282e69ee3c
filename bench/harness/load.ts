// Load: keeps a number of executions in flight, and times the whole and each.

import type { Receipt } from "./side.js";

export interface LoadOptions {
  readonly executions: number;
  readonly inFlight: number;
}

export interface Load {
  readonly elapsedMs: number;
  /** Of all threads of the process. */
  readonly cpuUs: number;
  /** From the call that starts an execution to its decoded output, by execution. */
  readonly latenciesMs: Float64Array;
  readonly receipts: readonly Receipt[];
}

export async function load(
  run: (n: number) => Promise<Receipt>,
  { executions, inFlight }: LoadOptions,
): Promise<Load> {
  const latenciesMs = new Float64Array(executions);
  const receipts: Receipt[] = [];
  let next = 0;
  const keepBusy = async (): Promise<void> => {
    while (next < executions) {
      const n = next++;
      const started = performance.now();
      receipts[n] = await run(n);
      latenciesMs[n] = performance.now() - started;
    }
  };
  const cpu = process.cpuUsage();
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, keepBusy));
  const elapsedMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  return { elapsedMs, cpuUs: user + system, latenciesMs, receipts };
}
