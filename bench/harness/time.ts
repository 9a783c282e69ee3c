// Time: how long one thing takes while nothing else runs. Samples are single executions, in two logs that stay open.

import type { Outcome, Sample } from "./duel.js";
import { quantileCurve } from "./quantile.js";
import { type Figures, type Row, ratioOf } from "./report.js";
import type { Sync } from "./side.js";

export async function timed(work: () => Promise<unknown>): Promise<Sample> {
  const started = performance.now();
  await work();
  return { durationMs: performance.now() - started };
}

export interface TimeRowOptions {
  readonly id: string;
  readonly sync: Sync;
  readonly outcome: Outcome<Sample>;
}

export function timeRow({ id, sync, outcome }: TimeRowOptions): Row {
  const { ours, theirs, ratio, rounds } = outcome;
  return {
    id,
    unit: "ms",
    sync,
    inFlight: 1,
    rounds: rounds.length,
    heddle: figures(
      "heddle",
      ours.latency,
      rounds.map((round) => round.ours),
    ),
    against: figures(
      "limit",
      theirs.latency,
      rounds.map((round) => round.theirs),
    ),
    ratio: ratioOf(ratio),
  };
}

function figures(
  name: string,
  { p50, p99, rme }: Outcome<Sample>["ours"]["latency"],
  samples: readonly Sample[],
): Figures {
  const timesMs = quantileCurve([Float64Array.from(samples, ({ durationMs }) => durationMs)]);
  return { name, median: p50, errorPercent: rme, p50Ms: p50, p99Ms: p99, sharedBy: 1, timesMs };
}
