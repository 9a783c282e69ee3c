// Load: keeps a number of executions in flight, and times the whole and each.

import type { LoadSample } from "./separate-duel.js";
import type { Receipt } from "./side.js";
import { writtenBytes } from "./written.js";

export interface LoadOptions {
  readonly executions: number;
  readonly inFlight: number;
}

export interface Load {
  readonly elapsedMs: number;
  /** Of all threads of the process. */
  readonly cpuUs: number;
  /** To the disk, where the system counts it. */
  readonly writtenBytes: number | undefined;
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
  const written = writtenBytes();
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, keepBusy));
  const elapsedMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  return {
    elapsedMs,
    cpuUs: user + system,
    writtenBytes: written === undefined ? undefined : (writtenBytes() ?? 0) - written,
    latenciesMs,
    receipts,
  };
}

/** The sample that a load is, given how many units of work it did and how many executions went into a commit. */
export function sampleOf(done: Load, units: number, sharedBy = 1): LoadSample {
  const { elapsedMs, cpuUs, writtenBytes, latenciesMs } = done;
  return {
    durationMs: elapsedMs / units,
    latenciesMs,
    sharedBy,
    cpuUs: cpuUs / units,
    writtenBytes: writtenBytes === undefined ? undefined : writtenBytes / units,
  };
}
