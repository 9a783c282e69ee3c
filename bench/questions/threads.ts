// How many one-step executions a second do partition threads make, 1,000 in flight, each commit flushed?
//
// `threads/flush/N`        Steps that do nothing, on N threads, beside the same in the host's thread. What crosses threads costs.
// `threads/flush/N/100us`  Steps that each work for about 100 µs: here threads are to pay.
// `threads/cpu/2`          Steps that each work for about 200 µs, on two threads beside one: how well they spread.
//
// With N = 0 it is two partitions in the host's thread beside one: how much of the difference is not the threads'.

import { auditReceipts } from "../harness/audit.js";
import { holdingsOf } from "../harness/holdings.js";
import { load, sampleOf } from "../harness/load.js";
import type { ByEffort, Question } from "../harness/question.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { duelOfLoads, type LoadSample } from "../harness/separate-duel.js";
import { receiptOf } from "../harness/side.js";
import type { Work } from "../sides/threads-flows.js";
import { type ThreadsSession, type ThreadsSide, threadsSide } from "../sides/threads-side.js";

const IN_FLIGHT = 1_000;
const RECORDS_EACH = 2;
const EXECUTIONS: { readonly [W in Work]: ByEffort<number> } = {
  nothing: { full: 60_000, quick: 1_000 },
  "100us": { full: 20_000, quick: 1_000 },
  "200us": { full: 10_000, quick: 1_000 },
};

export const threads: readonly Question[] = [
  ...(["nothing", "100us"] as const).flatMap((work) => [0, 1, 2].map((actors) => besideNone(actors, work))),
  ask("threads/cpu/2", "200us", onThreads(2, "200us"), onThreads(1, "200us")),
];

function besideNone(actors: number, work: Work): Question {
  const id = `threads/flush/${actors}${work === "nothing" ? "" : `/${work}`}`;
  const ours = actors === 0 ? threadsSide(0, 2, work, "2 partitions") : onThreads(actors, work);
  return ask(id, work, ours, threadsSide(0, 1, work, "no threads"));
}

/** One partition each. */
function onThreads(actors: number, work: Work): ThreadsSide {
  return threadsSide(actors, actors, work, actors === 1 ? "1 thread" : `${actors} threads`);
}

function ask(id: string, work: Work, ours: ThreadsSide, theirs: ThreadsSide): Question {
  return {
    id,
    ask: (effort) =>
      duelOfLoads(
        { id, unit: "executions/s", sync: "flush", inFlight: IN_FLIGHT, names: [ours.name, theirs.name] },
        effort,
      ),
    sampler: async (side, effort) => sampler(side === "ours" ? ours : theirs, EXECUTIONS[work][effort]),
  };
}

function sampler(side: ThreadsSide, executions: number): () => Promise<LoadSample> {
  return async () => {
    const directory = freshDirectory();
    const session = await side.open(directory);
    const done = await load((n) => session.run(n), { executions, inFlight: IN_FLIGHT });
    auditReceipts(side.name, done.receipts);
    const last = await session.recorded(executions - 1);
    if ((last as { readonly n?: unknown }).n !== receiptOf(executions - 1).n)
      throw new Error(`${side.name} recorded ${JSON.stringify(last)} as the output of the last execution.`);
    await session.close();
    const commits = await commitsOf(side.name, session, executions);
    removeDirectory(directory);
    // Those of opening and closing among them: a handful in hundreds.
    return sampleOf(done, executions, (executions * RECORDS_EACH) / commits);
  };
}

/** All of it is on disk, or the sample does not count. The log is closed. */
async function commitsOf(name: string, { places }: ThreadsSession, executions: number): Promise<number> {
  const held = await Promise.all(places.map(holdingsOf));
  const sum = (of: (one: (typeof held)[number]) => number): number =>
    held.reduce((total, one) => total + of(one), 0);
  const headers = sum((one) => one.headers);
  const records = sum((one) => one.records);
  if (headers !== executions || records !== executions * RECORDS_EACH) {
    throw new Error(`${name} left ${headers} headers and ${records} records of ${executions} executions.`);
  }
  return sum((one) => one.commits);
}
