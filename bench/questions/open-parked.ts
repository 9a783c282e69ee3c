// What does it take to open a directory that holds 100,000 parked executions?
//
// `open/100000-parked`         Until a new execution has come to its gate.
// `open/100000-parked/memory`  What heap, and what hangs outside of it, has grown by once everything is quiet.
//
// Beside a directory that holds 1,000. Each sample is a new process; what it loads before it opens does not count. The pages come
// from the system's cache.

import { setTimeout as delay } from "node:timers/promises";
import { bytesInUse } from "../harness/bytes-in-use.js";
import { sampleAfresh } from "../harness/own-process.js";
import { rowOfPairs } from "../harness/pairs.js";
import type { ByEffort, Question } from "../harness/question.js";
import type { Row } from "../harness/report.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { shared } from "../harness/shared-samples.js";
import { atGate } from "../sides/held.js";

const ID = "open/100000-parked";
const SYNC = "commit";
const MANY: ByEffort<number> = { full: 100_000, quick: 2_000 };
const FEW: ByEffort<number> = { full: 1_000, quick: 100 };
const ROUNDS: ByEffort<number> = { full: 7, quick: 2 };
const CALM_MS = 100;
const holder = atGate("parked", 0);

interface Opened {
  readonly readyMs: number;
  readonly grownBytes: number;
}

export const openParked: readonly Question[] = [
  ask(ID, "ms", ({ readyMs }) => readyMs),
  ask(`${ID}/memory`, "bytes", ({ grownBytes }) => grownBytes),
];

function ask(id: string, unit: Row["unit"], figureOf: (opened: Opened) => number): Question {
  return {
    id,
    async ask(effort) {
      const { many, few } = await samplesOf(effort);
      const figures = (opened: readonly Opened[]) => opened.map((one) => Float64Array.of(figureOf(one)));
      const nameOf = (executions: number): string => `${executions.toLocaleString("en")} parked`;
      return rowOfPairs(
        { id, unit, sync: SYNC, inFlight: MANY[effort] },
        {
          ours: figures(many),
          theirs: figures(few),
          names: [nameOf(MANY[effort]), nameOf(FEW[effort])],
        },
      );
    },
    opener: (_side, _effort, directory) => opened(directory),
  };
}

interface Samples {
  readonly many: readonly Opened[];
  readonly few: readonly Opened[];
}

const samplesOf = shared(async (effort): Promise<Samples> => {
  const question = ID;
  const many = await filled(MANY[effort]);
  const few = await filled(FEW[effort]);
  const samples: { many: Opened[]; few: Opened[] } = { many: [], few: [] };
  for (let round = 0; round < ROUNDS[effort]; round++) {
    samples.many.push(await sampleAfresh({ question, side: "ours", effort, directory: many }));
    samples.few.push(await sampleAfresh({ question, side: "theirs", effort, directory: few }));
  }
  removeDirectory(many);
  removeDirectory(few);
  return samples;
});

async function filled(executions: number): Promise<string> {
  const directory = freshDirectory();
  const held = await holder.open(directory, SYNC);
  await held.hold(0, executions);
  await held.close();
  return directory;
}

async function opened(directory: string): Promise<Opened> {
  const before = await bytesInUse();
  const started = performance.now();
  const held = await holder.open(directory, SYNC);
  const unused = Date.now();
  await held.hold(unused, unused + 1);
  const readyMs = performance.now() - started;
  await calm();
  const grownBytes = (await bytesInUse()) - before;
  await held.close();
  return { readyMs, grownBytes };
}

/** What goes on behind a log that is ready has come to its end: no thread of this process works any more. */
async function calm(): Promise<void> {
  for (;;) {
    const cpu = process.cpuUsage();
    await delay(CALM_MS);
    const { user, system } = process.cpuUsage(cpu);
    if ((user + system) / 1_000 < CALM_MS / 10) return;
  }
}
