// A host whose partition threads are busy, and which calls process.exit(3) in the middle of everything.
//
//   node exit-under-load.mjs DIR SYNC WHERE COUNT LANES
//
// WHERE: "durable", "answered" or "subscriber"; it exits when it comes there for the COUNT-th time.

import { writeSync } from "node:fs";
import { defineConfig, lmdbStorage } from "heddle";
import * as flows from "./flows.mjs";

const [dir, sync, where, count, lanes] = process.argv.slice(2);
let passed = 0;
function at(place) {
  if (place !== where || ++passed !== Number(count)) return;
  writeSync(1, `exit ${Date.now()}\n`);
  process.exit(3);
}
process.on("exit", (code) => writeSync(1, `exiting with ${code}\n`));

const app = defineConfig({
  storage: lmdbStorage({ dir, sync, partitions: 2 }),
  flowModules: [flows],
  workers: { actors: 2, app: new URL("./flows.mjs", import.meta.url) },
  ...(where === "durable" && { observability: { onDurableEvent: () => at("durable") } }),
});
app.stores.eventStore.subscribe("0-0", () => at("subscriber"), { from: 0 });
await app.start();
const lane = async (name) => {
  for (let i = 0; ; i++) {
    const handle = await app.runtime.start(flows.echo, i, { executionId: `${name}-${i}` });
    await handle.result();
    at("answered");
  }
};
await Promise.all(Array.from({ length: Number(lanes) }, (_, name) => lane(name)));
