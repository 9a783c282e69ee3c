// A host whose disk runs full. It starts executions with results of one megabyte until something is refused, waits, is
// told by SIGUSR2 that there is room, and finishes. It prints one line of JSON a phase.
//
//   node disk-full.mjs DIR MILLISECONDS-TO-WAIT

import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { z } from "zod";

const [dir, waitMs] = process.argv.slice(2);
const say = (report) => process.stdout.write(`${JSON.stringify(report)}\n`);
const room = once(process, "SIGUSR2");
const unhandled = [];
process.on("unhandledRejection", (error) => unhandled.push(String(error)));

const anything = z.unknown();
let effects = 0;
const big = [0, 1].map((i) =>
  step$({
    id: `big#${i}`,
    inputSchema: anything,
    outputSchema: anything,
    handler: handler$(() => {
      effects++;
      return String(i).repeat(1_000_000);
    }),
  }),
);
const flow = defineFlow(
  flow$({ id: "big", version: "1", inputSchema: anything, outputSchema: anything }),
  async (ctx) => {
    const word = await ctx.suspend({ on: "go" });
    const parts = [await ctx.run(big[0], 0), await ctx.run(big[1], 1)];
    return { word, length: parts.join("").length };
  },
);

let storageErrors = 0;
let recoveries = 0;
let onRecovery = () => {};
const app = defineConfig({
  storage: lmdbStorage({ dir, sync: "flush" }),
  flows: [flow],
  observability: {
    onStorageError: () => storageErrors++,
    onWarn: (message) => {
      if (!message.includes("takes writes again")) return;
      recoveries++;
      onRecovery();
    },
  },
});
await app.start();
const { runtime } = app;

const acknowledged = { starts: [], resumes: [], ends: [] };
const refused = { starts: [], resumes: [], waits: [] };
const codes = new Set();
const refuse = (list, id, error) => {
  list.push(id);
  codes.add(`${error.code} ${error.retryable}`);
};

async function run(id) {
  try {
    await runtime.start(flow, id, { executionId: id });
    acknowledged.starts.push(id);
  } catch (error) {
    return refuse(refused.starts, id, error);
  }
  try {
    await runtime.handle(id).waitForSuspend();
  } catch (error) {
    return refuse(refused.waits, id, error);
  }
  try {
    await runtime.resume(id, { eventType: "go", payload: id, requestId: "go" });
    acknowledged.resumes.push(id);
  } catch (error) {
    return refuse(refused.resumes, id, error);
  }
  try {
    const { status } = await runtime.handle(id).waitForCompletion();
    acknowledged.ends.push(`${id} ${status}`);
  } catch (error) {
    refuse(refused.waits, id, error);
  }
}

let next = 0;
const wave = () => Promise.all([0, 1, 2].map(() => run(`x${next++}`)));
while (codes.size === 0) await wave();
await wave();
const cpu = process.cpuUsage();
const effectsBefore = effects;
await delay(Number(waitMs));
const { user, system } = process.cpuUsage(cpu);
say({
  acknowledged,
  refused,
  codes: [...codes],
  storageErrors,
  recoveries,
  cpuMs: (user + system) / 1000,
  effectsMeanwhile: effects - effectsBefore,
});

const alive = setInterval(() => {}, 1000); // a signal to come keeps no process going
await room;
clearInterval(alive);
await new Promise((resolve) => {
  onRecovery = resolve;
});
const finish = async (id) => {
  for (;;) {
    try {
      const state = await runtime.handle(id).settled();
      if (state.status !== "suspended") return acknowledged.ends.push(`${id} ${state.status}`);
      await runtime.resume(id, { eventType: "go", payload: id, requestId: "go" });
    } catch (error) {
      if (error.code !== "STORAGE_FAILED") throw error;
      await delay(50);
    }
  }
};
const ended = new Set(acknowledged.ends.map((line) => line.split(" ")[0]));
await Promise.all(acknowledged.starts.filter((id) => !ended.has(id)).map(finish));
await wave();
await app.close();
say({ acknowledged, refused, unhandled });
process.exitCode = 7;
