// A host of the crash matrix. It takes up what its directory holds and starts what is not there; when all of it has ended or
// waits in doubt it says so, gives each doubt the verdict that the execution is named after, and waits for the end.
//
//   node matrix-host.mjs '{ "dir", "ids": [], "pooled", "threads", "die"? }'
//
// `die` is for the effects (matrix-effects.mjs) or for the store (dying-store.mjs). One line of JSON for each thing it was told.

import { writeSync } from "node:fs";
import { defineConfig, lmdbStorage } from "heddle";
import { dyingStores } from "./dying-store.mjs";
import { payment, registerEffects } from "./matrix-app.mjs";

const { dir, ids, pooled, threads, die } = JSON.parse(process.argv[2]);
const say = (what, id, more) => void writeSync(1, `${JSON.stringify({ what, id, ...more })}\n`);
const VERDICTS = {
  outcome: { outcome: "found out" },
  fail: { fail: new Error("never arrived") },
  retry: { retry: true },
};

const workers = {
  ...(threads && { actors: 1, app: new URL("./matrix-app.mjs", import.meta.url) }),
  ...(pooled && {
    effects: {
      module: new URL("./matrix-effects.mjs", import.meta.url),
      maxThreads: 1, // they meet in one thread
      callsPerThread: 16,
    },
  }),
};
const storage = lmdbStorage({ dir, sync: "flush" });
const opened = die && !threads ? defineConfig({ storage, autostart: false }) : undefined;
const app = defineConfig({
  storage: opened ? { kind: "custom", ...dyingStores(opened.stores, die) } : storage,
  flows: [payment],
  autostart: false,
  durability: { snapshotEvery: 2 },
  ...((threads || pooled) && { workers }),
  ...(!threads && { execution: { registerEffects } }),
  observability: {
    onWarn: (message) => say("warning", undefined, { message }),
    onStorageError: (_id, error) => say("storage", undefined, { message: String(error) }),
  },
});
const { runtime, stores } = app;
try {
  await app.start();
} catch (error) {
  say("refused", undefined, { code: error.code });
  process.exit(0);
}

const doubts = (await Promise.all(ids.map(settle))).filter(Boolean);
for (const { id } of doubts) {
  await runtime.resolveInDoubt(id, "pay", VERDICTS[id.split("-").at(-1)]);
  say("resolved", id);
}
await Promise.all(ids.map(end));
await app.close();
await opened?.close();
say("done");

async function settle(id) {
  if (!(await stores.eventStore.find(id))) {
    const input = { idempotent: id.startsWith("again"), filler: "x".repeat(die?.filler ?? 0) };
    await runtime.start(payment, input, { executionId: id });
    say("started", id);
  }
  const { status, frames } = await runtime.handle(id).settled();
  if (status !== "suspended") return undefined;
  say("parked", id, { frame: frames.pay });
  return { id };
}

async function end(id) {
  const { status, frames, variables } = await runtime.handle(id).waitForCompletion();
  say("ended", id, { status, output: variables._output, attempts: frames.pay.attempts });
}
