// What does an agent cost that has gone on for long? Messages of a kilobyte, one tool call a turn.
//
// `agent-growth/bytes/N`   The log after N turns, beside what was said in them: every message as JSON, once.
// `agent-growth/heap/N`    What the agent takes in memory then, after a forced collection, beside the same.
// `agent-growth/peak/N`    The most memory that a process had resident which ran it, LMDB's pages among it, beside one of 50 turns.
// `agent-growth/turn/N`    A turn near the N-th, beside one near the tenth of another agent, which takes turns with it.
// `agent-growth/replay/N`  A turn of N when the log is replayed, beside one of 200.

import { existsSync } from "node:fs";
import { open } from "lmdb";
import type { Budget, Measured } from "../harness/duel.js";
import { type Pairs, rowOfPairs } from "../harness/pairs.js";
import type { ByEffort, Effort, Question } from "../harness/question.js";
import type { Figures, Row } from "../harness/report.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { duelApart } from "../harness/separate-duel.js";
import { shared } from "../harness/shared-samples.js";
import { type AgentRun, resumeAgent, runAgent, turnsBeside } from "../sides/agent.js";
import { placeOf } from "../sides/heddle.js";

const TURNS = [50, 200, 650, 2_000] as const;
const ROUNDS: ByEffort<number> = { full: 9, quick: 2 };
const PEAK_BUDGET: ByEffort<Budget> = {
  full: { timeMs: 0, rounds: 3, warmupRounds: 0 },
  quick: { timeMs: 0, rounds: 2, warmupRounds: 0 },
};
/** Turns looked at on either side: a single one tells nothing. */
const WINDOW: ByEffort<number> = { full: 100, quick: 10 };
/** A tenth is left of the turns where the figures mean nothing, but enough for an agent to be seen in memory. */
const taken = (turns: number, effort: Effort): number =>
  effort === "full" ? turns : Math.max(50, turns / 10);
const SYNC = "commit";

interface Sample extends AgentRun {
  readonly logBytes: number;
  readonly replayMs: number;
}

export const agentGrowth: readonly Question[] = [
  ...TURNS.map((turns) => ask(`agent-growth/bytes/${turns}`, "bytes", (effort) => bytesOf(turns, effort))),
  ...TURNS.map((turns) => ask(`agent-growth/heap/${turns}`, "bytes", (effort) => heldBy(turns, effort))),
  peak(2_000),
  ...([650, 2_000] as const).map((turns) =>
    ask(`agent-growth/turn/${turns}`, "ms", (effort) => timesOf(turns, effort)),
  ),
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

async function heldBy(turns: number, effort: Effort): Promise<Pairs> {
  const samples = await samplesOf(turns, effort);
  return {
    ours: samples.map(({ heldBytes }) => Float64Array.of(heldBytes)),
    theirs: samples.map(({ contentBytes }) => Float64Array.of(contentBytes)),
    names: ["held", "said"],
  };
}

/** Each side has a process of its own. A peak only rises, so later rounds tell whether it does. */
function peak(turns: number): Question {
  const id = `agent-growth/peak/${turns}`;
  const names = [`${turns} turns`, "50 turns"] as const;
  return {
    id,
    ask: (effort) =>
      duelApart(
        { id, unit: "bytes", sync: SYNC, inFlight: 1, ratio: "time", budget: PEAK_BUDGET, names, figures },
        effort,
      ),
    sampler: async (side, effort) => async () => {
      const directory = freshDirectory();
      await runAgent(directory, side === "ours" ? taken(turns, effort) : 50, SYNC);
      removeDirectory(directory);
      return { durationMs: process.resourceUsage().maxRSS * 1_024 };
    },
  };
}

function figures(name: string, { latency: { p50, p99, rme } }: Measured): Figures {
  return { name, median: p50, errorPercent: rme, p50Ms: p50, p99Ms: p99, sharedBy: 1 };
}

async function timesOf(turns: number, effort: Effort): Promise<Pairs> {
  const ours: Float64Array[] = [];
  const theirs: Float64Array[] = [];
  for (let round = 0; round < ROUNDS[effort]; round++) {
    const directory = freshDirectory();
    const of = { turns: taken(turns, effort), window: WINDOW[effort], sync: SYNC } as const;
    const { late, early } = await turnsBeside(directory, of);
    removeDirectory(directory);
    ours.push(late);
    theirs.push(early);
  }
  return { ours, theirs, names: [`turn ${turns}`, "turn 10"] };
}

const samplesByTurns = new Map<number, (effort: Effort) => Promise<readonly Sample[]>>();

function samplesOf(turns: number, effort: Effort): Promise<readonly Sample[]> {
  const samples = samplesByTurns.get(turns) ?? shared((of) => takeSamples(taken(turns, of), ROUNDS[of]));
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
