// A host that spends under a budget, made to be killed: it takes up whatever its directory holds, starts what is missing of
// the executions it is to run, and says on stdout what the ledger holds once all of them have ended.
//
//   node spending-host.mjs '{ "dir", "calls", "executions", "steps", "limit", "dieAt"? }'
//
// `calls` is a file that each call leaves a line in, beside the log. `dieAt`: it kills itself when so many events are durable.

import { appendFileSync, writeSync } from "node:fs";
import { defineConfig, defineFlow, flow$, lmdbStorage, ToolEffect } from "heddle";
import { z } from "zod";

const { dir, calls, executions, steps, limit, dieAt } = JSON.parse(process.argv[2]);
const anything = z.unknown();
let durable = 0;

const spending = defineFlow(
  flow$({ id: "spending", version: "1", inputSchema: anything, outputSchema: anything }),
  async (ctx) => {
    for (let i = 0; i < steps; i++) await ctx.execute({ id: `pay#${i}`, toolId: "pay" }, i).catch(() => {});
  },
);
const pay = new ToolEffect(async (i, { executionId, stepId, attempt, meter }) => {
  appendFileSync(calls, `${executionId} ${stepId} ${attempt}\n`);
  meter({ tokens: 10 + i, cost: 0.1 });
  await null;
});

const app = defineConfig({
  storage: lmdbStorage({ dir, partitions: 2, sync: "commit" }),
  flows: [spending],
  execution: {
    registerEffects: (effects) => effects.register("pay", pay),
    envelope: {
      budgets: [
        { scope: "tenant", meter: "calls", limit },
        { scope: "flow", meter: "cost", limit: 1_000, perMs: 86_400_000 },
      ],
    },
  },
  observability: {
    onDurableEvent: () => {
      if (++durable === dieAt) process.kill(process.pid, "SIGKILL");
    },
  },
});
await app.start();
await Promise.all(
  Array.from({ length: executions }, async (_, i) => {
    const principal = { actor: "ann", tenant: "acme" };
    const handle = await app.runtime.start(spending, i, { executionId: `x${i}`, principal });
    await handle.waitForCompletion();
  }),
);
const { ledger } = app.envelope;
const used = (scope, of, perMs) =>
  Object.fromEntries(
    ["calls", "tokens", "cost", "wallMs"].map((meter) => [meter, ledger.used({ scope, of, meter, perMs })]),
  );
const tenant = used("tenant", "acme");
const today = used("flow", "spending", 86_400_000);
writeSync(1, `${JSON.stringify({ tenant, flow: used("flow", "spending"), today })}\n`);
await app.close();
