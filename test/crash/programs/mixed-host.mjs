// A host of the mixed flow, made to be killed: takes up whatever its directory holds, starts the executions it is told
// to, resumes every gate it meets, and says on stdout what was acknowledged. Ends by itself when nothing is left.
//
//   node mixed-host.mjs '{ "dir", "counter", "ids": [], "partitions", "maxResident"?, "die": { "point", "count" }? }'
//
// `die` makes it kill itself with SIGKILL when it passes a named point for the count-th time.

import { writeSync } from "node:fs";
import { defineConfig, hasCode, lmdbStorage } from "heddle";
import { mixedFlow, openCounter } from "./mixed-flow.mjs";

const { dir, counter, ids, die, maxResident, partitions } = JSON.parse(process.argv[2]);
const say = (line) => void writeSync(1, `${line}\n`);

let passed = 0;
function at(point) {
  if (die?.point === point && ++passed === die.count) process.kill(process.pid, "SIGKILL");
}

const mixed = mixedFlow(openCounter(counter), at);
say("loaded");
const app = defineConfig({
  storage: lmdbStorage({ dir, partitions, sync: "flush" }),
  flows: [mixed],
  observability: {
    onEvent: () => at("appended"),
    onDurableEvent: () => at("durable"),
    onWarn: (message) => say(`warning ${message}`),
    onStorageError: (_id, error) => say(`storage ${error}`),
  },
  ...(maxResident !== undefined && { execution: { maxResident } }),
});
const { runtime } = app;
await app.start();
at("opened");

const before = await runtime.list({ status: ["running", "suspended", "setAside"], limit: 10_000 });
await Promise.all([...before.map(({ id }) => see(id)), ...ids.map(start)]);
await app.close();
say("done");

async function start(id) {
  await runtime.start(mixed, { n: Number(id.split("-").at(-1)) }, { executionId: id });
  say(`started ${id}`);
  at("started");
  await see(id);
}

async function see(id) {
  const handle = runtime.handle(id);
  const state = await handle.settled();
  if (state.status === "suspended") {
    const answer = { eventType: "Go", payload: { word: `word of ${id}` }, requestId: `answer-${id}` };
    try {
      await runtime.resume(id, answer);
      say(`resumed ${id}`);
      at("resumed");
    } catch (error) {
      if (!hasCode(error, "EXECUTION_ENDED")) throw error;
    }
  }
  const { status } = await handle.waitForCompletion();
  say(`ended ${id} ${status}`);
  at("ended");
}
