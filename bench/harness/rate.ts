// Rate: how many executions, or steps, a second; each sample on a fresh log, opened and audited off the clock.

import { auditHoldings, auditReceipts, auditRecorded, idleCommitsOf } from "./audit.js";
import { duel, type Measured, type Sample } from "./duel.js";
import { load } from "./load.js";
import { openOwnProcess } from "./own-process.js";
import { quantile } from "./quantile.js";
import { type ByEffort, type Question, SAMPLES_OF_MANY } from "./question.js";
import { type Figures, ratioOf } from "./report.js";
import { freshDirectory, removeDirectory } from "./scratch.js";
import type { Side, Sync } from "./side.js";

export interface RateQuestion {
  readonly id: string;
  readonly unit: "executions/s" | "steps/s";
  readonly sync: Sync;
  readonly inFlight: number;
  /** Steps an execution; it makes one commit more. */
  readonly steps: number;
  /** Executions a sample. */
  readonly executions: ByEffort<number>;
  readonly heddle: Side;
  readonly against: Side;
}

interface Workload {
  readonly executions: number;
  readonly inFlight: number;
  readonly steps: number;
  readonly unitsEach: number;
}

interface RateSample extends Sample {
  readonly latenciesMs: Float64Array;
  readonly sharedBy: number;
  readonly cpuUs: number;
}

export function rateQuestion(question: RateQuestion): Question {
  const { id, unit, sync, inFlight, steps, heddle, against } = question;
  return {
    id,
    async ask(effort) {
      const ours = openOwnProcess<RateSample>({ question: id, side: "ours", effort });
      const theirs = openOwnProcess<RateSample>({ question: id, side: "theirs", effort });
      try {
        const outcome = await duel(ours.sample, theirs.sample, "rate", SAMPLES_OF_MANY[effort]);
        return {
          id,
          unit,
          sync,
          inFlight,
          rounds: outcome.rounds.length,
          heddle: figures(
            heddle,
            outcome.ours,
            outcome.rounds.map((round) => round.ours),
          ),
          against: figures(
            against,
            outcome.theirs,
            outcome.rounds.map((round) => round.theirs),
          ),
          ratio: ratioOf(outcome.ratio),
        };
      } finally {
        await Promise.all([ours.end(), theirs.end()]);
      }
    },
    sampler(side, effort) {
      const executions = question.executions[effort];
      const workload = { executions, inFlight, steps, unitsEach: unit === "steps/s" ? steps : 1 };
      return rateSampler(side === "ours" ? heddle : against, workload);
    },
  };
}

/** Exported for the test that a side which does too little is found out. */
export async function rateSampler(side: Side, workload: Workload): Promise<() => Promise<RateSample>> {
  const { executions, inFlight, steps, unitsEach } = workload;
  const recordsEach = steps + 1;
  const idleCommits = await idleCommitsOf(side);
  return async () => {
    const directory = freshDirectory();
    const session = await side.open(directory);
    const { elapsedMs, cpuUs, latenciesMs, receipts } = await load((n) => session.run(n), {
      executions,
      inFlight,
    });
    auditReceipts(side.name, receipts);
    await auditRecorded(side.name, session, executions);
    await session.close();
    const commits = await auditHoldings(side.name, session, {
      executions,
      recordsEach,
      idleCommits,
      inFlight,
    });
    removeDirectory(directory);
    return {
      durationMs: elapsedMs / (executions * unitsEach),
      latenciesMs,
      sharedBy: (executions * recordsEach) / commits,
      cpuUs: cpuUs / (executions * unitsEach),
    };
  };
}

function figures(side: Side, { throughput }: Measured, samples: readonly RateSample[]): Figures {
  const latencies = samples.map(({ latenciesMs }) => latenciesMs);
  return {
    name: side.name,
    median: throughput.p50,
    errorPercent: throughput.rme,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    sharedBy: mean(samples.map(({ sharedBy }) => sharedBy)),
    cpuUs: mean(samples.map(({ cpuUs }) => cpuUs)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
