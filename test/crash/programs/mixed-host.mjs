// A host of the mixed flow, made to be killed: takes up whatever its directory holds, starts the executions it is told
// to, decides what is in doubt, resumes every gate it meets, and says on stdout what was acknowledged. Ends by itself when
// nothing is left.
//
//   node mixed-host.mjs '{ "dir", "ids": [], "partitions", "actors"?, "maxResident"? }'
//
// With `actors` executions run in so many partition threads. Where it dies is for death.mjs to say.

import { writeSync } from "node:fs";
import { defineConfig, hasCode, lmdbStorage } from "heddle";
import { at } from "./death.mjs";
import { mixed, verdictOn } from "./mixed-flow.mjs";

const { dir, ids, partitions, actors, maxResident } = JSON.parse(process.argv[2]);
const say = (line) => void writeSync(1, `${line}\n`);

say("loaded");
const app = defineConfig({
  storage: lmdbStorage({ dir, partitions, sync: "flush" }),
  flows: [mixed],
  ...(actors && { workers: { actors, app: new URL("./mixed-flow.mjs", import.meta.url) } }),
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
  at("started");
  await see(id);
}

async function see(id) {
  const handle = runtime.handle(id);
  for (;;) {
    const { status, frames } = await handle.settled();
    if (status !== "suspended") break;
    const doubt = Object.values(frames).find((frame) => frame.status === "inDoubt");
    try {
      if (doubt) await decide(id, doubt);
      else await resume(id);
    } catch (error) {
      if (!hasCode(error, "EXECUTION_ENDED")) throw error;
    }
  }
  const { status } = await handle.waitForCompletion();
  say(`ended ${id} ${status}`);
  at("ended");
}

async function decide(id, frame) {
  try {
    await runtime.resolveInDoubt(id, frame.stepId, verdictOn(id, frame));
  } catch (error) {
    // The answer may be lost with its thread; what was decided then stands, and the next look tells.
    if (!hasCode(error, "PARTITION_THREAD_LOST") && !hasCode(error, "STEP_NOT_IN_DOUBT")) throw error;
    return;
  }
  say(`decided ${id}`);
  at("decided");
}

async function resume(id) {
  const answer = { eventType: "Go", payload: { word: `word of ${id}` }, requestId: `answer-${id}` };
  await again(() => runtime.resume(id, answer));
  say(`resumed ${id}`);
  at("resumed");
}
