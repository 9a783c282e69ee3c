// How many calls of effects a second does the pool do?
//
// `pool/trivial`  An effect that does nothing, 1,000 in flight, on one thread: what a call costs. Beside one `pool.run` of
//                 plain Piscina a call, on as many threads.
// `pool/burn`     An effect that burns 5 ms, 64 in flight, on two threads beside one: how well work spreads.

import { auditReceipts } from "../harness/audit.js";
import { load, sampleOf } from "../harness/load.js";
import type { ByEffort, Question } from "../harness/question.js";
import { duelOfLoads, type LoadSample } from "../harness/separate-duel.js";
import { type CallSide, heddlePool, plainPool } from "../sides/pool-calls.js";
import type { Work } from "../sides/pool-effects.js";

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
    ask: (effort) =>
      duelOfLoads({ id, unit: "calls/s", sync: "none", inFlight, names: [ours.name, theirs.name] }, effort),
    sampler: (side, effort) => callSampler(side === "ours" ? ours : theirs, question, effort),
  };
}

async function callSampler(
  side: CallSide,
  { work, inFlight, calls }: ThroughputQuestion,
  effort: "full" | "quick",
): Promise<() => Promise<LoadSample>> {
  const session = await side.open();
  // The parent ends this process by letting go of it.
  process.once("disconnect", () => void session.close());
  return async () => {
    const executions = calls[effort];
    globalThis.gc?.();
    const done = await load((n) => session.call(work, n), { executions, inFlight });
    auditReceipts(side.name, done.receipts);
    return sampleOf(done, executions);
  };
}
