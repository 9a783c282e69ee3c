// A host that runs heddle in a worker thread. The main thread starts it, stops it half-way (or lets it finish), and starts
// it again.
//
//   node worker-host.mjs DIR

import { setTimeout as delay } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { z } from "zod";

const anything = z.unknown();
const work = (i) =>
  step$({
    id: `work#${i}`,
    inputSchema: anything,
    outputSchema: anything,
    handler: handler$(() => delay(2, i)),
  });
const sums = defineFlow(
  flow$({ id: "sums", version: "1", inputSchema: anything, outputSchema: anything }),
  async (ctx) => {
    let sum = 0;
    for (let i = 0; i < 10; i++) sum += await ctx.run(work(i), 0);
    return sum;
  },
);

if (isMainThread) {
  const dir = process.argv[2];
  const results = [];
  const run = async (options) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { dir, ...options } });
    for await (const [message] of messages(worker)) {
      if (message.kind === "refused") results.push(`refused ${message.code}`);
      if (message.kind === "started" && options.terminate) {
        await delay(options.terminate);
        await worker.terminate();
      }
      if (message.kind === "result") results.push(message.sum);
    }
  };
  async function* messages(worker) {
    const queue = [];
    let wake = () => {};
    let isOver = false;
    worker.on("message", (message) => (queue.push([message]), wake()));
    worker.on("error", (error) => (queue.push([{ kind: "error", message: String(error) }]), wake()));
    worker.on("exit", () => ((isOver = true), wake()));
    for (;;) {
      while (queue.length > 0) yield queue.shift();
      if (isOver) return;
      await new Promise((resolve) => (wake = resolve));
    }
  }
  for (let i = 0; i < 20; i++) await run({ id: `terminated ${i}`, terminate: i % 10 });
  await run({ id: "whole" });
  // Two threads of one process on one directory, and the directory after both.
  await Promise.all([run({ id: "rival", lingers: true }), delay(100).then(() => run({ id: "rival" }))]);
  const app = defineConfig({ storage: lmdbStorage({ dir }), flows: [sums] });
  await app.start();
  for (let i = 0; i < 20; i++) {
    let end;
    try {
      end = (await app.runtime.handle(`terminated ${i}`).waitForCompletion()).status;
    } catch ({ code }) {
      end = code;
    }
    if (end !== "completed" && end !== "EXECUTION_UNKNOWN") throw new Error(`terminated ${i}: ${end}`);
  }
  await app.close();
  process.stdout.write(`${JSON.stringify(results)}\n`);
} else {
  const { dir, id, lingers } = workerData;
  const app = defineConfig({ storage: lmdbStorage({ dir }), flows: [sums] });
  try {
    const handle = await app.runtime.start(sums, 0, { executionId: id });
    parentPort.postMessage({ kind: "started" });
    parentPort.postMessage({ kind: "result", sum: await handle.result() });
    if (lingers) await delay(300);
  } catch (error) {
    parentPort.postMessage({ kind: "refused", code: error.code });
  }
  await app.close();
}
