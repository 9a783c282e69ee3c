// How many calls of effects a second does the pool do?
//
// `pool/trivial`  An effect that does nothing, 1,000 in flight, on one thread: what a call costs. Beside one `pool.run` of
//                 plain Piscina a call, on as many threads.
// `pool/burn`     An effect that burns 5 ms, 64 in flight, on two threads beside one: how well work spreads.

import { auditReceipts } from "../harness/audit.js";
import { duel, type Measured, type Sample } from "../harness/duel.js";
import { load } from "../harness/load.js";
import { openOwnProcess } from "../harness/own-process.js";
import { quantile } from "../harness/quantile.js";
import { type ByEffort, type Question, SAMPLES_OF_MANY } from "../harness/question.js";
import { type Figures, ratioOf } from "../harness/report.js";
import { type CallSide, heddlePool, plainPool } from "../sides/pool-calls.js";
import type { Work } from "../sides/pool-effects.js";

interface CallSample extends Sample {
  readonly latenciesMs: Float64Array;
  readonly cpuUs: number;
}

interface ThroughputQuestion {
  readonly id: string;
  readonly work: Work;
  readonly inFlight: number;
  readonly calls: ByEffort<number>;
  readonly ours: CallSide;
  readonly theirs: CallSide;
}

export const poolThroughput: readonly Question[] = [
  throughput({
    id: "pool/trivial/1000",
    work: "trivial",
    inFlight: 1_000,
    calls: { full: 100_000, quick: 3_000 },
    ours: heddlePool(1),
    theirs: plainPool(1),
  }),
  throughput({
    id: "pool/burn/2-threads",
    work: "burn",
    inFlight: 64,
    calls: { full: 400, quick: 80 },
    ours: heddlePool(2),
    theirs: heddlePool(1, "1 thread"),
  }),
];

function throughput(question: ThroughputQuestion): Question {
  const { id, inFlight, ours, theirs } = question;
  return {
    id,
    async ask(effort) {
      const our = openOwnProcess<CallSample>({ question: id, side: "ours", effort });
      const their = openOwnProcess<CallSample>({ question: id, side: "theirs", effort });
      try {
        const outcome = await duel(
          () => our.sample(),
          () => their.sample(),
          "rate",
          SAMPLES_OF_MANY[effort],
        );
        const { rounds } = outcome;
        return {
          id,
          unit: "calls/s",
          sync: "none",
          inFlight,
          rounds: rounds.length,
          heddle: figures(
            ours.name,
            outcome.ours,
            rounds.map((round) => round.ours),
          ),
          against: figures(
            theirs.name,
            outcome.theirs,
            rounds.map((round) => round.theirs),
          ),
          ratio: ratioOf(outcome.ratio),
        };
      } finally {
        await Promise.all([our.end(), their.end()]);
      }
    },
    sampler: (side, effort) => callSampler(side === "ours" ? ours : theirs, question, effort),
  };
}

async function callSampler(
  side: CallSide,
  { work, inFlight, calls }: ThroughputQuestion,
  effort: "full" | "quick",
): Promise<() => Promise<CallSample>> {
  const session = await side.open();
  // The parent ends this process by letting go of it.
  process.once("disconnect", () => void session.close());
  return async () => {
    const executions = calls[effort];
    globalThis.gc?.();
    const { elapsedMs, cpuUs, latenciesMs, receipts } = await load((n) => session.call(work, n), {
      executions,
      inFlight,
    });
    auditReceipts(side.name, receipts);
    return { durationMs: elapsedMs / executions, latenciesMs, cpuUs: cpuUs / executions };
  };
}

function figures(name: string, { throughput: rate }: Measured, samples: readonly CallSample[]): Figures {
  const latencies = samples.map(({ latenciesMs }) => latenciesMs);
  return {
    name,
    median: rate.p50,
    errorPercent: rate.rme,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    sharedBy: 1,
    cpuUs: samples.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / samples.length,
  };
}
