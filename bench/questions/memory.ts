// How much memory does an execution take that stays: heap and what hangs outside of it, after a forced collection?
//
// `memory/hot`      Parked at a gate and still in memory, beside what the raw baseline keeps of one that runs.
// `memory/working`  In the middle of its second step, beside the same.
// `memory/parked`   Parked at a gate and passivated, beside `memory/hot`. Nothing is to be left.
//
// A sample is what memory grows by while thousands of them are added to as many: what is there once does not count.

import { bytesInUse } from "../harness/bytes-in-use.js";
import type { Budget, Measured, Sample } from "../harness/duel.js";
import type { ByEffort, Question } from "../harness/question.js";
import type { Figures } from "../harness/report.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { duelApart } from "../harness/separate-duel.js";
import { atGate, type Holder, inRawStep, inStep } from "../sides/held.js";

const SYNC = "commit";
const EXECUTIONS: ByEffort<number> = { full: 20_000, quick: 1_000 };
const BUDGET: ByEffort<Budget> = {
  full: { timeMs: 0, rounds: 5, warmupRounds: 1 },
  quick: { timeMs: 0, rounds: 2, warmupRounds: 0 },
};
/** A ratio needs more than nothing. */
const LEAST_BYTES = 1;

const hot = atGate("in memory", Number.MAX_SAFE_INTEGER);

export const memory: readonly Question[] = [
  ask("memory/hot", hot, inRawStep),
  ask("memory/working", inStep, inRawStep),
  ask("memory/parked", atGate("passivated", 0), hot),
];

function ask(id: string, ours: Holder, theirs: Holder): Question {
  return {
    id,
    ask: (effort) =>
      duelApart(
        {
          id,
          unit: "bytes",
          sync: SYNC,
          inFlight: EXECUTIONS[effort],
          ratio: "time",
          budget: BUDGET,
          names: [ours.name, theirs.name],
          figures,
        },
        effort,
      ),
    sampler: async (side, effort) => () => growthOf(side === "ours" ? ours : theirs, EXECUTIONS[effort]),
  };
}

async function growthOf(holder: Holder, executions: number): Promise<Sample> {
  const directory = freshDirectory();
  const held = await holder.open(directory, SYNC);
  await held.hold(0, executions);
  const before = await bytesInUse();
  await held.hold(executions, 2 * executions);
  const grownBytes = (await bytesInUse()) - before;
  await held.close();
  removeDirectory(directory);
  return { durationMs: Math.max(LEAST_BYTES, grownBytes / executions) };
}

function figures(name: string, { latency: { p50, p99, rme } }: Measured): Figures {
  return { name, median: p50, errorPercent: rme, p50Ms: p50, p99Ms: p99, sharedBy: 1 };
}
