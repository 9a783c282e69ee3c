// A host that calls process.exit(3) in the middle of everything.
//
//   node exit-under-load.mjs DIR SYNC WHERE COUNT
//
// WHERE: "durable", "appended", "subscriber", "effect" or "flow"; it exits when it comes there for the COUNT-th time.

import { writeSync } from "node:fs";
import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { z } from "zod";

const [dir, sync, where, count] = process.argv.slice(2);
let passed = 0;
function at(place) {
  if (place !== where || ++passed !== Number(count)) return;
  writeSync(1, `exit ${Date.now()}\n`);
  process.exit(3);
}
process.on("exit", (code) => writeSync(1, `exiting with ${code}\n`));

const anything = z.unknown();
const work = step$({
  id: "work",
  inputSchema: anything,
  outputSchema: anything,
  handler: handler$(() => {
    at("effect");
    return "x".repeat(20_000);
  }),
});
const load = defineFlow(
  flow$({ id: "load", version: "1", inputSchema: anything, outputSchema: anything }),
  (ctx) => {
    at("flow");
    return ctx.run(work, 0);
  },
);
const app = defineConfig({
  storage: lmdbStorage({ dir, sync }),
  flows: [load],
  observability: { onDurableEvent: () => at("durable"), onEvent: () => at("appended") },
});
app.stores.eventStore.subscribe("0-0", () => at("subscriber"));
await app.start();
const lane = async (name) => {
  for (let i = 0; ; i++) await (await app.runtime.start(load, i, { executionId: `${name}-${i}` })).result();
};
await Promise.all(Array.from({ length: 50 }, (_, name) => lane(name)));
