// A process that owns a directory and keeps writing to it, driven by messages from the test:
//
//   { start: id }        starts one execution that waits at its gate
//   { resume: id }       resumes it, which ends it
//   { write: count }     runs that many short executions, one after the other
//   { close: true }      closes the app and ends
//
// Every message is answered with { done, trouble }: `trouble` lists what the runtime warned of.

import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { z } from "zod";

const any = z.unknown();
const trouble = [];
const work = step$({ id: "work", inputSchema: any, outputSchema: any, handler: handler$((input) => input) });
const waiting = defineFlow(
  flow$({ id: "waiting", version: "1", inputSchema: any, outputSchema: any }),
  async (ctx, input) => {
    await ctx.run(work, input);
    await ctx.suspend({ on: "Go" });
    return ctx.run({ ...work, id: "more" }, input);
  },
);
const short = defineFlow(
  flow$({ id: "short", version: "1", inputSchema: any, outputSchema: any }),
  (ctx, input) => ctx.run(work, input),
);
const app = defineConfig({
  storage: lmdbStorage({ dir: process.argv[2] }),
  flows: [waiting, short],
  observability: {
    onWarn: (message) => trouble.push(message),
    onStorageError: (id, error) => trouble.push(`${id}: ${error}`),
  },
});
await app.start();
let written = 0;

async function obey(message) {
  if (message.start) {
    const handle = await app.runtime.start(waiting, { at: message.start }, { executionId: message.start });
    await handle.waitForSuspend();
  }
  if (message.resume) {
    await app.runtime.resume(message.resume, { eventType: "Go", payload: null });
    await app.runtime.handle(message.resume).waitForCompletion();
  }
  for (let i = 0; i < (message.write ?? 0); i++) {
    const handle = await app.runtime.start(short, { i }, { executionId: `short-${written++}` });
    await handle.result();
  }
  if (message.close) await app.close();
}

process.on("message", (message) => {
  obey(message)
    .catch((/** @type {unknown} */ error) => trouble.push(String(error)))
    .finally(() => {
      process.send({ done: message, trouble });
      if (message.close) process.disconnect();
    });
});
process.send({ done: "ready", trouble });
