// What does an agent cost that has gone on for long? Messages of a kilobyte, one tool call a turn.
//
// `agent-growth/bytes/N`   The log after N turns, beside what was said in them: every message as JSON, once.
// `agent-growth/turn/N`    A turn near the N-th, beside one near the tenth.
// `agent-growth/replay/N`  A turn of N when the log is replayed, beside one of 200.

import { existsSync } from "node:fs";
import { open } from "lmdb";
import { type Pairs, rowOfPairs } from "../harness/pairs.js";
import type { ByEffort, Effort, Question } from "../harness/question.js";
import type { Row } from "../harness/report.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { shared } from "../harness/shared-samples.js";
import { type AgentRun, resumeAgent, runAgent } from "../sides/agent.js";
import { placeOf } from "../sides/heddle.js";

const TURNS = [50, 200, 650, 2_000] as const;
const ROUNDS: ByEffort<number> = { full: 9, quick: 2 };
/** Turns looked at on either side: a single one tells nothing. */
const WINDOW = 100;
const SYNC = "commit";

interface Sample extends AgentRun {
  readonly logBytes: number;
  readonly replayMs: number;
}

export const agentGrowth: readonly Question[] = [
  ...TURNS.map((turns) => ask(`agent-growth/bytes/${turns}`, "bytes", (effort) => bytesOf(turns, effort))),
  ask("agent-growth/turn/2000", "ms", async (effort) => {
    const samples = await samplesOf(2_000, effort);
    const near = (from: number, to: number) => samples.map(({ turnsMs }) => turnsMs.slice(from, to));
    // The first turns of a process are those its compiler learns from.
    return { ours: near(-WINDOW - 1, -1), theirs: near(10, 10 + WINDOW), names: ["turn 2,000", "turn 10"] };
  }),
  ask("agent-growth/replay/2000", "ms", async (effort) => {
    const each = async (turns: number): Promise<Float64Array[]> =>
      (await samplesOf(turns, effort)).map(({ replayMs }) => Float64Array.of(replayMs / turns));
    return { theirs: await each(200), ours: await each(2_000), names: ["of 2,000", "of 200"] };
  }),
];

function ask(id: string, unit: Row["unit"], measure: (effort: Effort) => Promise<Pairs>): Question {
  return {
    id,
    ask: async (effort) => rowOfPairs({ id, unit, sync: SYNC, inFlight: 1 }, await measure(effort)),
  };
}

async function bytesOf(turns: number, effort: Effort): Promise<Pairs> {
  const samples = await samplesOf(turns, effort);
  return {
    ours: samples.map(({ logBytes }) => Float64Array.of(logBytes)),
    theirs: samples.map(({ contentBytes }) => Float64Array.of(contentBytes)),
    names: ["log", "said"],
  };
}

const samplesByTurns = new Map<number, (effort: Effort) => Promise<readonly Sample[]>>();

function samplesOf(turns: number, effort: Effort): Promise<readonly Sample[]> {
  const samples = samplesByTurns.get(turns) ?? shared((of) => takeSamples(turns, ROUNDS[of]));
  samplesByTurns.set(turns, samples);
  return samples(effort);
}

async function takeSamples(turns: number, rounds: number): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round++) {
    const directory = freshDirectory();
    const run = await runAgent(directory, turns, SYNC);
    const logBytes = await logBytesOf(directory);
    samples.push({ ...run, logBytes, replayMs: await resumeAgent(directory, turns, SYNC) });
    removeDirectory(directory);
  }
  return samples;
}

const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;

/** Of keys and values, as LMDB has them. */
async function logBytesOf(directory: string): Promise<number> {
  const { path, records } = placeOf(directory);
  if (!existsSync(path)) throw new Error(`There is no log in ${path}.`);
  const environment = open({ path, readOnly: true, ...BINARY });
  let bytes = 0;
  for (const { key, value } of environment.openDB<Uint8Array, Uint8Array>(records, BINARY).getRange())
    bytes += key.length + value.length;
  await environment.close();
  return bytes;
}
