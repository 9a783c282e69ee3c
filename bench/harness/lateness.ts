// Lateness: how late the host's event loop is while something else goes on.
//
// A sample is the 99th percentile of what perf_hooks' monitor of the event loop sees meanwhile, less its resolution.

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Measured, Sample } from "./duel.js";
import type { Effort } from "./question.js";
import type { Figures, Row } from "./report.js";
import { duelApart, type SeparateDuel } from "./separate-duel.js";

const RESOLUTION_MS = 1;

export async function latenessDuring(work: () => Promise<unknown>): Promise<Sample> {
  const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  monitor.enable();
  await work();
  monitor.disable();
  // A loop that is never late by what can be seen still needs a number that a ratio can be made of.
  return { durationMs: Math.max(monitor.percentile(99) / 1e6 - RESOLUTION_MS, 0.01) };
}

/** The row of two sides whose samples are latenesses. */
export function duelOfLatenesses(
  row: Pick<SeparateDuel<Sample>, "id" | "inFlight" | "names" | "budget">,
  effort: Effort,
): Promise<Row> {
  return duelApart({ ...row, unit: "ms", sync: "none", ratio: "time", figures }, effort);
}

function figures(name: string, { latency: { p50, p99, rme } }: Measured): Figures {
  return { name, median: p50, errorPercent: rme, p50Ms: p50, p99Ms: p99, sharedBy: 1 };
}
