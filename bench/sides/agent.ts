// An agent of many turns: each asks a model that does not think, and calls a tool that gives a text of about a kilobyte.

import { EventEmitter, once } from "node:events";
import { defineConfig, defineFlow, flow$, type HeddleApp, lmdbStorage } from "heddle";
import { agentLoop$ } from "heddle/agent";
import type { LlmRequest, LlmResponse } from "heddle/llm";
import { z } from "zod";
import { bytesInUse } from "../harness/bytes-in-use.js";
import type { Sync } from "../harness/side.js";
import { looker, lookUp, MODEL, registerLooker } from "./looker.js";

const KILOBYTE = "All work and no play makes a log that grows. ".repeat(23).slice(0, 1_000);
const GATE = "Done";

/** No two turns say the same: it would be in memory once. */
const textOf = (turn: number): string => `${turn}. ${KILOBYTE}`.slice(0, KILOBYTE.length);

const flow = defineFlow(
  flow$({
    id: "agent",
    version: "1",
    inputSchema: z.object({ turns: z.number(), prompt: z.string() }),
    outputSchema: z.unknown(),
  }),
  async (ctx, { turns, prompt }) => {
    const { iterations } = await agentLoop$(
      ctx,
      { definition: looker, modelToolId: MODEL, maxIterations: turns, warnTranscriptBytes: false },
      { prompt },
    );
    return iterations + (await ctx.suspend<number>({ on: GATE }));
  },
);

export interface AgentRun {
  /** Of all messages as JSON, the last answer among them. */
  readonly contentBytes: number;
  /** What it takes in memory while its model makes the last answer. */
  readonly heldBytes: number;
}

/** Runs an agent and leaves it at a gate, so that it can be replayed. */
export async function runAgent(directory: string, turns: number, sync: Sync): Promise<AgentRun> {
  let contentBytes = 0;
  let bytesThen = 0;
  const app = await open(directory, sync, async (turn, { messages }) => {
    if (turn < turns - 1) return lookUp(turn, textOf(turn));
    contentBytes = jsonBytes(messages);
    bytesThen = await bytesInUse();
    return { content: KILOBYTE, stopReason: "end" };
  });
  const before = await bytesInUse();
  const handle = await app.runtime.start(flow, { turns, prompt: KILOBYTE }, { executionId: "agent" });
  await handle.waitForSuspend();
  await app.close();
  return { contentBytes: contentBytes + KILOBYTE.length, heldBytes: bytesThen - before };
}

/** Turns of two agents, in milliseconds each. */
export interface TurnsBeside {
  /** The last ones of the one that has gone on for long. */
  readonly late: Float64Array;
  /** Of the other one, from its tenth: the first turns of a process are those its compiler learns from. */
  readonly early: Float64Array;
}

const EARLY = 10;

/**
 * Two agents in one app, turn and turn about: one that makes its last `window` turns of so many, and one that has made ten. Whatever
 * else the machine does slows both.
 */
export async function turnsBeside(
  directory: string,
  { turns, window, sync }: { readonly turns: number; readonly window: number; readonly sync: Sync },
): Promise<TurnsBeside> {
  const old = { prompt: `Old. ${KILOBYTE}`, from: turns - window, turnsMs: new Float64Array(window) };
  const young = { prompt: `Young. ${KILOBYTE}`, from: EARLY, turnsMs: new Float64Array(window) };
  const seen = new EventEmitter();
  const isOldReady = once(seen, String(old.from));
  const isDone = once(seen, "done");
  let goOn = (): void => {};
  let began = 0;
  const app = await open(directory, sync, async (turn, { messages }) => {
    const { from, turnsMs } = messages[0]?.content === old.prompt ? old : young;
    if (turn > from) turnsMs[turn - from - 1] = performance.now() - began;
    if (turn >= from) {
      const other = goOn;
      const isTurn = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      seen.emit(turn === EARLY + window ? "done" : String(turn));
      other();
      await isTurn;
      began = performance.now();
    }
    return lookUp(turn, textOf(turn));
  });
  const start = (prompt: string) => app.runtime.start(flow, { turns: turns + 1, prompt });
  await start(old.prompt);
  await isOldReady;
  await start(young.prompt);
  await isDone;
  await app.close({ deadlineMs: 0 }); // both wait for a turn that does not come
  return { late: old.turnsMs, early: young.turnsMs };
}

/** How long it takes to go on with it once its log has been opened again: to read and replay it, and to end it. */
export async function resumeAgent(directory: string, turns: number, sync: Sync): Promise<number> {
  const app = await open(directory, sync, () => {
    throw new Error("A replay asked the model.");
  });
  const started = performance.now();
  await app.runtime.resume("agent", { eventType: GATE, payload: 0 });
  const durationMs = performance.now() - started;
  const { variables } = await app.runtime.loadState("agent");
  if (variables["_output"] !== turns)
    throw new Error(`The agent took ${String(variables["_output"])} turns, not ${turns}.`);
  await app.close();
  return durationMs;
}

async function open(
  directory: string,
  sync: Sync,
  answer: (turn: number, request: LlmRequest) => LlmResponse | Promise<LlmResponse>,
): Promise<HeddleApp> {
  const app = defineConfig({
    storage: lmdbStorage({ dir: directory, sync }),
    flows: [flow],
    execution: { registerEffects: (effects) => registerLooker(effects, textOf, answer) },
  });
  await app.start();
  return app;
}

function jsonBytes(messages: LlmRequest["messages"]): number {
  return messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0);
}
