// A directory with very many parked executions, made by one process and opened by another. Prints one line of JSON.
//
//   node many-parked.mjs build DIR PARKED SLEEPING
//   node --expose-gc many-parked.mjs open DIR PARKED SLEEPING
//
// The sleepers were due hours ago when the second process opens: its clock says so.

import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { z } from "zod";

const [mode, dir, parkedCount, sleepingCount] = process.argv.slice(2);
const PARKED = Number(parkedCount);
const SLEEPING = Number(sleepingCount);
const HOUR = 3_600_000;
/** Between the due times of two sleepers: every one has its own. */
const APART_MS = 100;

const say = (report) => process.stdout.write(`${JSON.stringify(report)}\n`);
const anything = z.unknown();
const flow = (id, run) =>
  defineFlow(flow$({ id, version: "1", inputSchema: anything, outputSchema: anything }), run);
const after = step$({
  id: "after",
  inputSchema: anything,
  outputSchema: anything,
  handler: handler$((n) => n),
});
const parked = flow("parked", (ctx) => ctx.suspend({ on: "go", timeout: 100 * HOUR }));
const sleeper = flow("sleeper", async (ctx, n) => {
  await ctx.sleep(HOUR / 2 + n * APART_MS);
  return ctx.run(after, n);
});
const fresh = flow("fresh", (ctx, n) => ctx.run(after, n));

const heap = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
};

if (mode === "build") {
  const app = defineConfig({ storage: lmdbStorage({ dir, sync: "commit" }), flows: [parked, sleeper] });
  await app.start();
  let next = 0;
  const lane = async () => {
    while (next < PARKED + SLEEPING) {
      const n = next++;
      // Later sleepers are started first, so that the order of starts is not the order of due times.
      if (n < SLEEPING)
        await app.runtime.start(sleeper, SLEEPING - 1 - n, { executionId: `sleeper ${SLEEPING - 1 - n}` });
      else await app.runtime.start(parked, n);
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: 2_000 }, lane));
  await app.close();
  say({ buildMs: performance.now() - begun });
} else {
  const woken = [];
  let drained;
  const drain = new Promise((resolve) => (drained = resolve));
  let completed = 0;
  const heapBefore = heap();
  const opened = performance.now();
  const app = defineConfig({
    storage: lmdbStorage({ dir, sync: "commit" }),
    flows: [parked, sleeper, fresh],
    execution: { now: () => Date.now() + 10 * HOUR },
    observability: {
      onDurableEvent: ({ type, executionId }) => {
        if (!executionId.startsWith("sleeper")) return;
        if (type === "TIMER_FIRED") woken.push(executionId);
        if (type === "EXECUTION_COMPLETED" && ++completed === SLEEPING) drained();
      },
    },
  });
  await app.start();
  const readyMs = performance.now() - opened;
  const heapReady = heap();

  // New work while the overdue work is being done, one after the other.
  const latencies = [];
  let isDraining = SLEEPING > 0;
  const newcomers = (async () => {
    while (isDraining) {
      const begun = performance.now();
      const handle = await app.runtime.start(fresh, 0);
      await handle.result();
      latencies.push(performance.now() - begun);
    }
  })();
  const drainBegun = performance.now();
  if (SLEEPING > 0) await drain;
  const drainMs = performance.now() - drainBegun;
  isDraining = false;
  await newcomers;
  latencies.sort((a, b) => a - b);

  // The look at everything that is parked goes on in the background; a start is answered when a pass is through.
  const looked = performance.now();
  for (let i = 0; i < 500; i++) await app.runtime.start(fresh, 0);
  const lookMs = performance.now() - looked;
  const heapAfter = heap();
  const states = await Promise.all(
    ["running", "suspended"].map((status) => app.runtime.list({ status, limit: 1_000_000 })),
  );
  const dueTimes = woken.map((id) => {
    const events = app.stores.eventStore.readSync(id);
    return events.find(({ type }) => type === "EXECUTION_SUSPENDED").payload.wakeAt;
  });
  await app.close();
  say({
    readyMs,
    drainMs,
    lookMs,
    newcomers: latencies.length,
    newcomerMedianMs: latencies[latencies.length >> 1],
    newcomerMaxMs: latencies.at(-1),
    inOrder: dueTimes.every((due, i) => i === 0 || dueTimes[i - 1] <= due),
    woken: woken.length,
    heapMb: { before: heapBefore, ready: heapReady, after: heapAfter },
    maxRssMb: process.resourceUsage().maxRSS / 1024,
    running: states[0].filter(({ flowId }) => flowId !== "fresh").length,
    suspended: states[1].length,
  });
}
