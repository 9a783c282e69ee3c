// A host of a soak, made to be killed: takes up whatever its directory holds, starts what it is told to, answers and decides and
// cancels what waits, and says on stdout what was acknowledged. Ends by itself when nothing is left.
//
//   node soak-host.mjs '{ "dir", "partitions", "sync", "ids": [], "actors", "pool", "maxResident"? }'
//
// An id is `<lane>-<kind>-<n>`. Where it dies is for death.mjs to say, or for whoever kills it. A full disk refuses with a type, and
// the same is asked again until there is room.

import { writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineConfig, hasCode, lmdbStorage } from "heddle";
import { at } from "../../crash/programs/death.mjs";
import { verdictOn } from "../../crash/programs/mixed-flow.mjs";
import { agent, mixed, pooled, registerEffects, stopped } from "./soak-app.mjs";

const flows = { agent, mixed, pooled, stopped };
const { dir, partitions, sync, ids, actors, pool, maxResident } = JSON.parse(process.argv[2]);
const say = (line) => void writeSync(1, `${line}\n`);
const kindOf = (id) => id.split("-").at(-2);

say("loaded");
const workers = {
  ...(actors > 0 && { actors, app: new URL("./soak-app.mjs", import.meta.url) }),
  ...(pool && { effects: { module: new URL("./soak-effects.mjs", import.meta.url), maxThreads: 2 } }),
};
const app = defineConfig({
  storage: lmdbStorage({ dir, partitions, sync }),
  flows: Object.values(flows),
  autostart: false,
  ...((actors > 0 || pool) && { workers }),
  execution: {
    ...(actors === 0 && { registerEffects }),
    ...(maxResident !== undefined && { maxResident }),
  },
  durability: { snapshotEvery: 20 },
  observability: {
    onEvent: () => at("appended"),
    onDurableEvent: () => at("durable"),
    onWarn: (message) => say(`warning ${message}`),
    onStorageError: (_id, error) => say(`storage ${error.code}`),
  },
});
const { runtime } = app;
try {
  await app.start();
} catch (error) {
  say(`refused ${error.code}`);
  process.exit(0);
}
say("opened");
at("opened");
const left = await runtime.list({ status: ["running", "suspended", "setAside"], limit: 10_000 });
await Promise.all([...left.map(({ id }) => see(id)), ...ids.map(start)]);
await app.close();
say("done");

/** A lost thread may have done it or not, and a full disk did not: both are asked again under the same name. */
async function again(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (hasCode(error, "STORAGE_FAILED")) await delay(20);
      else if (!hasCode(error, "PARTITION_THREAD_LOST")) throw error;
    }
  }
}

async function start(id) {
  await again(() =>
    runtime.start(flows[kindOf(id)], { n: Number(id.split("-").at(-1)) }, { executionId: id }),
  );
  say(`started ${id}`);
  at("started");
  await see(id);
}

async function see(id) {
  const handle = runtime.handle(id);
  for (;;) {
    const { status, frames } = await again(() => handle.settled());
    if (status !== "suspended") break;
    const doubt = Object.values(frames).find((frame) => frame.status === "inDoubt");
    try {
      if (doubt) await decide(id, doubt);
      else if (kindOf(id) === "stopped") await cancel(id);
      else await resume(id);
    } catch (error) {
      if (!hasCode(error, "EXECUTION_ENDED")) throw error;
    }
  }
  const { status } = await again(() => handle.waitForCompletion());
  say(`ended ${id} ${status}`);
  at("ended");
}

async function decide(id, frame) {
  try {
    await runtime.resolveInDoubt(id, frame.stepId, verdictOn(id, frame));
  } catch (error) {
    // The answer may be lost with its thread or its disk; what was decided then stands, and the next look tells.
    const isOpen = ["PARTITION_THREAD_LOST", "STEP_NOT_IN_DOUBT", "STORAGE_FAILED"].some((code) =>
      hasCode(error, code),
    );
    if (!isOpen) throw error;
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

async function cancel(id) {
  await again(() => runtime.cancel(id, "soak"));
  say(`cancelled ${id}`);
}
