// How long does it take to open a directory whose process was killed while 10,000 executions ran, each in its second step?
//
// `recover/10000/ready`  Until a new execution has started, durably.
// `recover/10000`        Until all of them have come to their ends.
//
// Beside what LMDB and msgpackr need to read the same records, and nothing else. Each sample is a new process over a copy of the
// directory; what the processes load before they open it does not count.

import { cpSync } from "node:fs";
import { auditReceipts } from "../harness/audit.js";
import { readAll } from "../harness/holdings.js";
import { openOwnProcess, sampleAfresh } from "../harness/own-process.js";
import { rowOfPairs } from "../harness/pairs.js";
import type { ByEffort, Question } from "../harness/question.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { shared } from "../harness/shared-samples.js";
import type { Receipt } from "../harness/side.js";
import { placeOf } from "../sides/heddle.js";
import { inStep, openToEnd } from "../sides/held.js";

const ID = "recover/10000";
const SYNC = "flush";
const EXECUTIONS: ByEffort<number> = { full: 10_000, quick: 500 };
const ROUNDS: ByEffort<number> = { full: 7, quick: 2 };
/** The start with the request of the first step, and its outcome with the request of the second. */
const RECORDS_EACH = 2;

interface Recovered {
  readonly readyMs: number;
  readonly endedMs: number;
}

interface Samples {
  readonly ours: readonly Recovered[];
  readonly readMs: readonly Float64Array[];
}

export const recover: readonly Question[] = [
  ask(`${ID}/ready`, ({ readyMs }) => readyMs),
  ask(ID, ({ endedMs }) => endedMs),
];

function ask(id: string, timeOf: (sample: Recovered) => number): Question {
  return {
    id,
    async ask(effort) {
      const { ours, readMs } = await samplesOf(effort);
      return rowOfPairs(
        { id, unit: "ms", sync: SYNC, inFlight: EXECUTIONS[effort] },
        {
          ours: ours.map((sample) => Float64Array.of(timeOf(sample))),
          theirs: readMs,
          names: ["heddle", "raw read"],
        },
      );
    },
    opener(side, effort, directory) {
      const executions = EXECUTIONS[effort];
      if (side === "before") return interrupt(directory, executions);
      return side === "ours" ? recovered(directory, executions) : rawRead(directory, executions);
    },
  };
}

const samplesOf = shared(async (effort): Promise<Samples> => {
  const question = ID;
  const killed = freshDirectory();
  const victim = openOwnProcess({ question, side: "before", effort, directory: killed });
  await victim.sample();
  await victim.kill();
  const ours: Recovered[] = [];
  const readMs: Float64Array[] = [];
  for (let round = 0; round < ROUNDS[effort]; round++) {
    const directory = freshDirectory();
    cpSync(killed, directory, { recursive: true });
    readMs.push(Float64Array.of(await sampleAfresh({ question, side: "theirs", effort, directory })));
    ours.push(await sampleAfresh({ question, side: "ours", effort, directory }));
    removeDirectory(directory);
  }
  removeDirectory(killed);
  return { ours, readMs };
});

async function interrupt(directory: string, executions: number): Promise<void> {
  const held = await inStep.open(directory, SYNC);
  await held.hold(0, executions);
}

async function recovered(directory: string, executions: number): Promise<Recovered> {
  const started = performance.now();
  const log = await openToEnd(directory, SYNC);
  await log.start(executions);
  const readyMs = performance.now() - started;
  const outputs = await Promise.all(Array.from({ length: executions }, (_, n) => log.result(n)));
  const endedMs = performance.now() - started;
  auditReceipts("heddle", outputs as Receipt[]);
  await log.close();
  return { readyMs, endedMs };
}

async function rawRead(directory: string, executions: number): Promise<number> {
  const started = performance.now();
  const read = await readAll(placeOf(directory));
  const readMs = performance.now() - started;
  if (read !== executions * RECORDS_EACH)
    throw new Error(`There are ${read} records of ${executions} executions.`);
  return readMs;
}
