// A flow that cleans up when it is cancelled, and a host that cancels it and dies at the count-th event that is durable after
// the request. Arguments: directory, file of marks, count.

import { appendFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { z } from "zod";

const any = z.any();

export function cleanupFlow(file) {
  const mark = (what) => appendFileSync(file, `${what}\n`);
  const step = (id, run) => step$({ id, inputSchema: any, outputSchema: any, handler: handler$(run) });
  const slow = step("slow", () => {
    mark("slow");
    return new Promise(() => {});
  });
  const undo = (n) =>
    step(`undo#${n}`, () => {
      mark(`undo#${n}`);
      return n;
    });
  return defineFlow(
    flow$({ id: "cleanup", version: "1", inputSchema: any, outputSchema: any }),
    async (ctx) => {
      try {
        await Promise.race([ctx.run(slow, 1), ctx.suspend({ on: "Never", timeout: 3_600_000 })]);
      } finally {
        await ctx.shield(async (shielded) => {
          await shielded.run(undo(1), 1);
          await shielded.sleep(5);
          await shielded.parallel([
            [undo(2), 2],
            [undo(3), 3],
          ]);
          await shielded.suspend({ on: "Nobody", timeout: 5 }).catch(() => {});
          await shielded.run(undo(4), 4);
        });
      }
    },
  );
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , dir, file, count] = process.argv;
  const flow = cleanupFlow(file);
  let isCancelling = false;
  let durable = 0;
  const app = defineConfig({
    storage: lmdbStorage({ dir, sync: "commit" }),
    flows: [flow],
    observability: {
      onDurableEvent({ type }) {
        isCancelling ||= type === "CANCEL_REQUESTED";
        if (isCancelling && durable++ === Number(count)) process.kill(process.pid, "SIGKILL");
      },
    },
  });
  const handle = await app.runtime.start(flow, null, { executionId: "x" });
  const running = app.stores.eventStore;
  while ((await running.read("x")).length < 3) await new Promise((resolve) => setImmediate(resolve));
  await app.runtime.cancel("x", "enough");
  await handle.waitForCompletion();
  await app.close();
}
