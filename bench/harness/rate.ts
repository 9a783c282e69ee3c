// Rate: how many executions, or steps, a second; each sample on a fresh log, opened and audited off the clock.

import { auditHoldings, auditReceipts, auditRecorded, idleCommitsOf } from "./audit.js";
import { load, sampleOf } from "./load.js";
import type { ByEffort, Question } from "./question.js";
import { freshDirectory, removeDirectory } from "./scratch.js";
import { duelOfLoads, type LoadSample } from "./separate-duel.js";
import type { Side, Sync } from "./side.js";

export interface RateQuestion {
  readonly id: string;
  readonly unit: "executions/s" | "steps/s" | "MB/s";
  readonly sync: Sync;
  readonly inFlight: number;
  /** Steps an execution; it makes one commit more. */
  readonly steps: number;
  /** Units an execution. Default: one execution, or its steps. */
  readonly unitsEach?: number;
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

export function rateQuestion(question: RateQuestion): Question {
  const { id, unit, sync, inFlight, steps, heddle, against } = question;
  const { unitsEach = unit === "steps/s" ? steps : 1 } = question;
  return {
    id,
    ask: (effort) => duelOfLoads({ id, unit, sync, inFlight, names: [heddle.name, against.name] }, effort),
    sampler(side, effort) {
      const executions = question.executions[effort];
      const workload = { executions, inFlight, steps, unitsEach };
      return rateSampler(side === "ours" ? heddle : against, workload);
    },
  };
}

/** Exported for the test that a side which does too little is found out. */
export async function rateSampler(side: Side, workload: Workload): Promise<() => Promise<LoadSample>> {
  const { executions, inFlight, steps, unitsEach } = workload;
  const recordsEach = steps + 1;
  const idleCommits = await idleCommitsOf(side);
  return async () => {
    const directory = freshDirectory();
    const session = await side.open(directory);
    const done = await load((n) => session.run(n), { executions, inFlight });
    auditReceipts(side.name, done.receipts);
    await auditRecorded(side.name, session, executions);
    await session.close();
    const commits = await auditHoldings(side.name, session, {
      executions,
      recordsEach,
      idleCommits,
      inFlight,
    });
    removeDirectory(directory);
    return sampleOf(done, executions * unitsEach, (executions * recordsEach) / commits);
  };
}
