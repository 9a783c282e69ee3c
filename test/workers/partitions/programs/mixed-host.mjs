// A host of the mixed flow in partition threads, made to be killed: takes up whatever its directory holds, starts what it
// is told to, resumes every gate it meets, and says on stdout what was acknowledged. Ends when nothing is left.
//
//   node mixed-host.mjs '{ "dir", "ids": [], "partitions", "actors", "maxResident"? }'

import { writeSync } from "node:fs";
import { defineConfig, hasCode, lmdbStorage } from "heddle";
import { mixed } from "./mixed-app.mjs";

const { dir, ids, partitions, actors, maxResident } = JSON.parse(process.argv[2]);
const say = (line) => void writeSync(1, `${line}\n`);

say("loaded");
const app = defineConfig({
  storage: lmdbStorage({ dir, partitions, sync: "flush" }),
  flows: [mixed],
  workers: { actors, app: new URL("./mixed-app.mjs", import.meta.url) },
  observability: {
    onWarn: (message) => say(`warning ${message}`),
    onStorageError: (_id, error) => say(`storage ${error}`),
  },
  execution: { maxResident },
});
const { runtime } = app;
await app.start();
const before = await runtime.list({ status: ["running", "suspended", "setAside"], limit: 10_000 });
await Promise.all([...before.map(({ id }) => see(id)), ...ids.map(start)]);
await app.close();
say("done");

/** What a lost thread did not answer may be done or not: it is asked again under the same name. */
async function again(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!hasCode(error, "PARTITION_THREAD_LOST")) throw error;
    }
  }
}

async function start(id) {
  await again(() => runtime.start(mixed, { n: Number(id.split("-").at(-1)) }, { executionId: id }));
  say(`started ${id}`);
  await see(id);
}

async function see(id) {
  const handle = runtime.handle(id);
  const state = await handle.settled();
  if (state.status === "suspended") {
    const answer = { eventType: "Go", payload: { word: `word of ${id}` }, requestId: `answer-${id}` };
    try {
      await again(() => runtime.resume(id, answer));
      say(`resumed ${id}`);
    } catch (error) {
      if (!hasCode(error, "EXECUTION_ENDED")) throw error;
    }
  }
  const { status } = await handle.waitForCompletion();
  say(`ended ${id} ${status}`);
}
