// A host that awaits nothing heddle gives it, and has no handler for unhandled rejections: Node ends it at the first one.
//
//   node unawaited.mjs DIR

import { setTimeout as delay } from "node:timers/promises";
import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { z } from "zod";

const anything = z.unknown();
const flow = (id, run) =>
  defineFlow(flow$({ id, version: "1", inputSchema: anything, outputSchema: anything }), run);
const failing = flow("failing", async (ctx) => {
  const step = step$({
    id: "s",
    inputSchema: anything,
    outputSchema: anything,
    handler: handler$(() => Promise.reject(new Error("no"))),
  });
  void ctx.run(step, 0); // not even its own flow waits for it
  await ctx.run({ ...step, id: "t" }, 0);
});
const parked = flow("parked", (ctx) => ctx.suspend({ on: "go" }));
const unregistered = flow("unregistered", async () => 1);
const strict = defineFlow(
  flow$({ id: "strict", version: "1", inputSchema: z.object({ n: z.number() }), outputSchema: anything }),
  async () => 1,
);

const storage = lmdbStorage({ dir: process.argv[2], sync: "commit" });
const app = defineConfig({ storage, flows: [failing, parked, strict] });
const { runtime } = app;

async function everything(id) {
  const handle = runtime.handle(id);
  void handle.waitForCompletion();
  void handle.waitForSuspend();
  void handle.settled();
  void handle.result();
  void handle.getState();
}

void app.start();
void runtime.start(failing, 0, { executionId: "f" });
void runtime.start(failing, 1, { executionId: "f" }); // a conflict
void runtime.start(parked, 0, { executionId: "p" });
void runtime.start(unregistered, 0);
void runtime.start(strict, { n: "one" });
void runtime.start(parked, 0, { executionId: "" });
void everything("f");
void everything("p");
void everything("nobody");
await delay(50);
void everything("f");
void everything("p");
void runtime.resume("p", { eventType: "wrong" });
void runtime.resume("nobody", { eventType: "go" });
void runtime.cancel("f");
void runtime.loadState("nobody");
void app.stores.eventStore.read("p");
void runtime.list({ after: "nobody" });
void runtime.start(parked, 0).then((handle) => void handle.result());

// A second app on the same directory, which cannot open.
const second = defineConfig({ storage, flows: [parked] });
void second.runtime.start(parked, 0);
void second.runtime.list();
void second.close();

await delay(50);
void app.close({ deadlineMs: 10 });
void app.close();
void app.start();
void runtime.start(parked, 0);
void everything("p");
void runtime.cancel("p");
await delay(100);
process.stdout.write("alive\n");
