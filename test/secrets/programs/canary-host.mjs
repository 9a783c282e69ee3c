// A host that says everything it hears: hooks, states, errors, subscriptions. PHASE=1 is killed while a step runs; PHASE=2 goes
// on from there to the end.

import { inspect } from "node:util";
import { defineConfig, lmdbStorage } from "heddle";
import * as module from "./canary-app.mjs";

const { breaks, canary, claimCheck, order, registerEffects, secrets } = module;
const { DIR, PHASE, PLACE, SEALED } = process.env;
const MODULE = new URL("./canary-app.mjs", import.meta.url);
const print = (line) => process.stdout.write(`${line}\n`);
const say = (what, value) =>
  print(
    `${what} ${inspect(value, { depth: 30, showHidden: true, maxStringLength: null, maxArrayLength: null })}`,
  );

const inThreads = PLACE.includes("threads");
const effects = { module: MODULE, maxThreads: 1 };
const app = defineConfig({
  storage: lmdbStorage({ dir: DIR }),
  flows: [order, breaks],
  security: {
    ...(SEALED === "yes" && { sealingKey: new Uint8Array(32).fill(7) }),
    ...(!inThreads && { secrets }),
  },
  durability: { snapshotEvery: 2 },
  observability: {
    onEvent: (event) => say("onEvent", event),
    onDurableEvent: (event) => say("onDurableEvent", event),
    onWarn: (message) => say("onWarn", message),
    onStorageError: (id, error) => say("onStorageError", [id, error]),
  },
  ...(!inThreads && { execution: { registerEffects, claimCheck } }),
  workers: {
    ...(inThreads && { actors: 1, app: MODULE }),
    ...(PLACE.includes("pool") && { effects }),
  },
});

const principal = { actor: canary("principal"), tenant: "acme" };
const tags = { a: canary("tag.a"), b: canary("tag") };
const input = { card: { owner: "ann", pins: [{ pin: canary("input") }] }, tags };
const { eventStore, snapshotStore } = app.stores;

const handle = await app.runtime.start(order, input, { executionId: "x", principal });
if (PHASE === "1") {
  const other = await app.runtime.start(breaks, { pin: canary("input") }, { executionId: "y" });
  say("breaks", await other.result().catch((error) => error));
  setInterval(() => {}, 1_000);
} else {
  const abort = new AbortController();
  const subscribed = (async () => {
    for await (const event of eventStore.subscribe("x", { signal: abort.signal })) {
      say("subscribed", event);
      if (event.type === "EXECUTION_COMPLETED") break;
    }
  })().catch((error) => say("subscription", error));
  await handle.waitForSuspend();
  await app.runtime.resume("x", { eventType: "code", payload: { code: canary("gate") } });
  const state = await handle.waitForCompletion();
  await subscribed;
  say("state", state);
  say("events", await eventStore.read("x"));
  say("list", await app.runtime.list());
  say("snapshot", await snapshotStore.load("x"));
  const { receipt, isTrue, pin } = await handle.result();
  const resultIsTrue = pin === canary("input");
  print(`RESULT ${JSON.stringify({ status: state.status, receipt, isTrue, resultIsTrue })}`);
  await app.close();
}
