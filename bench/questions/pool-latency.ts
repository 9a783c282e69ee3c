// How long does one call of an effect take?
//
// `pool/alone`  A call that is the only one, beside one `pool.run` of plain Piscina.
// `pool/mix`    The slowest hundredth of calls that do nothing, 100 in flight, while one call in a hundred sleeps 500 ms on
//               the same thread; beside the same without the sleepers. A sample is that percentile.

import { type Budget, duel, type Sample } from "../harness/duel.js";
import { load } from "../harness/load.js";
import { quantile } from "../harness/quantile.js";
import type { ByEffort, Question } from "../harness/question.js";
import { type Figures, ratioOf } from "../harness/report.js";
import { receiptOf } from "../harness/side.js";
import { timed } from "../harness/time.js";
import { type Calls, heddlePool, plainPool } from "../sides/pool-calls.js";

const ALONE: ByEffort<Budget> = {
  full: { timeMs: 4_000, rounds: 4_000, warmupRounds: 2_000 },
  quick: { timeMs: 0, rounds: 50, warmupRounds: 5 },
};
const MIX: ByEffort<Budget> = {
  full: { timeMs: 0, rounds: 20, warmupRounds: 2 },
  quick: { timeMs: 0, rounds: 2, warmupRounds: 0 },
};
const MIX_CALLS: ByEffort<number> = { full: 10_000, quick: 1_000 };
const MIX_IN_FLIGHT = 100;
const ONE_IN = 100;

export const poolLatency: readonly Question[] = [
  {
    id: "pool/alone",
    async ask(effort) {
      const ours = await heddlePool(1).open();
      const theirs = await plainPool(1).open();
      const one = (calls: Calls) => (n: number) => timed(() => checkedCall(calls, n));
      const outcome = await duel(one(ours), one(theirs), "time", ALONE[effort]);
      await Promise.all([ours.close(), theirs.close()]);
      return row("pool/alone", 1, ["heddle", "pool.run"], outcome);
    },
  },
  {
    id: "pool/mix",
    async ask(effort) {
      const calls = await heddlePool(1).open();
      const sample = (hasSleepers: boolean) => () => fastP99(calls, MIX_CALLS[effort], hasSleepers);
      const outcome = await duel(sample(true), sample(false), "time", MIX[effort]);
      await calls.close();
      return row("pool/mix", MIX_IN_FLIGHT, ["with sleepers", "without"], outcome);
    },
  },
];

async function checkedCall(calls: Calls, n: number): Promise<void> {
  const receipt = await calls.call("trivial", n);
  if (receipt.n !== receiptOf(n).n) throw new Error(`Call ${n} gave ${JSON.stringify(receipt)}.`);
}

/** Sleepers come on top of those in flight, and the sample ends when they have all been answered. */
async function fastP99(calls: Calls, executions: number, hasSleepers: boolean): Promise<Sample> {
  const sleepers: Promise<unknown>[] = [];
  globalThis.gc?.();
  const { latenciesMs } = await load(
    (n) => {
      if (hasSleepers && n % ONE_IN === 0) sleepers.push(calls.call("sleep", n));
      return calls.call("trivial", n);
    },
    { executions, inFlight: MIX_IN_FLIGHT },
  );
  await Promise.all(sleepers);
  return { durationMs: quantile([latenciesMs], 0.99) };
}

function row(
  id: string,
  inFlight: number,
  [ours, theirs]: readonly [string, string],
  outcome: Awaited<ReturnType<typeof duel<Sample>>>,
): Awaited<ReturnType<Question["ask"]>> {
  return {
    id,
    unit: "ms",
    sync: "none",
    inFlight,
    rounds: outcome.rounds.length,
    heddle: figures(ours, outcome.ours),
    against: figures(theirs, outcome.theirs),
    ratio: ratioOf(outcome.ratio),
  };
}

function figures(name: string, { latency }: Awaited<ReturnType<typeof duel<Sample>>>["ours"]): Figures {
  const { p50, p99, rme } = latency;
  return { name, median: p50, errorPercent: rme, p50Ms: p50, p99Ms: p99, sharedBy: 1 };
}
