// How long does a one-step execution take while others arrive at 10, 50 and 90 % of the rate that is possible at most?
//
// A sample first finds out the most, with 1,000 in flight, on the same log; then executions arrive by a schedule, and their times run
// from when they were to arrive. The first half second does not count. The baseline does the same at its own rates.

import { auditReceipts } from "../harness/audit.js";
import type { Budget, Sample } from "../harness/duel.js";
import { load } from "../harness/load.js";
import { openLoad } from "../harness/open-load.js";
import { quantile, quantileCurve } from "../harness/quantile.js";
import type { ByEffort, Question } from "../harness/question.js";
import type { Figures } from "../harness/report.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { duelApart } from "../harness/separate-duel.js";
import type { Side, Sync } from "../harness/side.js";
import { heddle } from "../sides/heddle.js";
import { limit } from "../sides/limit.js";

const IN_FLIGHT = 1_000;
const CLOSED: ByEffort<number> = { full: 20_000, quick: 1_000 };
const SECONDS: ByEffort<number> = { full: 2, quick: 0.1 };
/** Arrivals before those that count: what the change from one load to the other costs is the bench's doing. */
const LEAD_IN_SHARE = 0.25;
const BUDGET: ByEffort<Budget> = {
  full: { timeMs: 0, rounds: 4, warmupRounds: 1 },
  quick: { timeMs: 0, rounds: 2, warmupRounds: 0 },
};

interface LatencySample extends Sample {
  readonly latenciesMs: Float64Array;
  readonly perSecond: number;
}

export const latency: readonly Question[] = (["flush", "commit"] as const).flatMap((sync) =>
  [10, 50, 90].map((percent) => ask(sync, percent)),
);

function ask(sync: Sync, percent: number): Question {
  const id = `latency/${sync}/${percent}`;
  const options = { steps: 1, sync };
  return {
    id,
    ask: (effort) =>
      duelApart<LatencySample>(
        {
          id,
          unit: "ms",
          sync,
          inFlight: 0,
          ratio: "time",
          budget: BUDGET,
          names: ["heddle", "limit"],
          figures: (name, { latency: { rme } }, samples) => figures(name, rme, samples),
        },
        effort,
      ),
    sampler: async (side, effort) => {
      const measured = side === "ours" ? heddle(options) : limit(options);
      return () => sample(measured, percent / 100, CLOSED[effort], SECONDS[effort]);
    },
  };
}

async function sample(side: Side, share: number, closed: number, seconds: number): Promise<LatencySample> {
  const directory = freshDirectory();
  const session = await side.open(directory);
  const { elapsedMs } = await load((n) => session.run(n), { executions: closed, inFlight: IN_FLIGHT });
  const perSecond = (share * closed * 1_000) / elapsedMs;
  const leadIn = Math.ceil(perSecond * seconds * LEAD_IN_SHARE);
  const executions = leadIn + Math.ceil(perSecond * seconds);
  const all = await openLoad((n) => session.run(closed + n), { perSecond, executions });
  const latenciesMs = all.latenciesMs.subarray(leadIn);
  auditReceipts(
    side.name,
    all.receipts.map(({ ok, n }) => ({ ok, n: n - closed })),
  );
  await session.close();
  removeDirectory(directory);
  return { durationMs: quantile([latenciesMs], 0.5), latenciesMs, perSecond };
}

function figures(name: string, errorPercent: number, samples: readonly LatencySample[]): Figures {
  const latencies = samples.map(({ latenciesMs }) => latenciesMs);
  const perSecond = samples.reduce((sum, one) => sum + one.perSecond, 0) / samples.length;
  const p50 = quantile(latencies, 0.5);
  return {
    name: `${name} at ${Math.round(perSecond).toLocaleString("en")}/s`,
    median: p50,
    errorPercent,
    p50Ms: p50,
    p99Ms: quantile(latencies, 0.99),
    sharedBy: 1,
    timesMs: quantileCurve(latencies),
  };
}
