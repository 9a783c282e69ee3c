// An agent of many turns: each asks a model that does not think, and calls a tool that gives a text of about a kilobyte.

import { defineConfig, defineFlow, flow$, type HeddleApp, lmdbStorage } from "heddle";
import { agentLoop$ } from "heddle/agent";
import type { LlmRequest, LlmResponse } from "heddle/llm";
import { z } from "zod";
import type { Sync } from "../harness/side.js";
import { looker, lookUp, MODEL, registerLooker } from "./looker.js";

const KILOBYTE = "All work and no play makes a log that grows. ".repeat(23).slice(0, 1_000);
const GATE = "Done";

const flow = defineFlow(
  flow$({
    id: "agent",
    version: "1",
    inputSchema: z.object({ turns: z.number() }),
    outputSchema: z.unknown(),
  }),
  async (ctx, { turns }) => {
    const { iterations } = await agentLoop$(
      ctx,
      { definition: looker, modelToolId: MODEL, maxIterations: turns, warnTranscriptBytes: false },
      { prompt: KILOBYTE },
    );
    return iterations + (await ctx.suspend<number>({ on: GATE }));
  },
);

export interface AgentRun {
  /** From one request to the next, by turn. */
  readonly turnsMs: Float64Array;
  /** Of all messages as JSON, the last answer among them. */
  readonly contentBytes: number;
}

/** Runs an agent and leaves it at a gate, so that it can be replayed. */
export async function runAgent(directory: string, turns: number, sync: Sync): Promise<AgentRun> {
  const beganMs = new Float64Array(turns + 1);
  let contentBytes = 0;
  const app = await open(directory, sync, (turn, { messages }) => {
    beganMs[turn] = performance.now();
    if (turn < turns - 1) return lookUp(turn, KILOBYTE);
    contentBytes = jsonBytes(messages);
    return { content: KILOBYTE, stopReason: "end" };
  });
  const handle = await app.runtime.start(flow, { turns }, { executionId: "agent" });
  await handle.waitForSuspend();
  beganMs[turns] = performance.now();
  await app.close();
  const turnsMs = Float64Array.from({ length: turns }, (_, n) => (beganMs[n + 1] ?? 0) - (beganMs[n] ?? 0));
  return { turnsMs, contentBytes: contentBytes + KILOBYTE.length };
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
  answer: (turn: number, request: LlmRequest) => LlmResponse,
): Promise<HeddleApp> {
  const app = defineConfig({
    storage: lmdbStorage({ dir: directory, sync }),
    flows: [flow],
    execution: { registerEffects: (effects) => registerLooker(effects, KILOBYTE, answer) },
  });
  await app.start();
  return app;
}

function jsonBytes(messages: LlmRequest["messages"]): number {
  return messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0);
}
