// A TypeScript host, run through a loader.

import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { surface } from "heddle/surface";
import { z } from "zod";

const double = step$({
  id: "double",
  inputSchema: z.object({ n: z.number() }),
  outputSchema: z.number(),
  handler: handler$(({ n }: { n: number }) => n * 2),
});
const flow = defineFlow(
  flow$({ id: "f", version: "1", inputSchema: z.object({ n: z.number() }), outputSchema: z.number() }),
  async (ctx, input) => {
    const doubled: number = await ctx.run(double, input);
    surface(ctx).set("doubled", doubled);
    return doubled;
  },
);
const app = defineConfig({
  storage: lmdbStorage({ dir: process.argv[2] ?? "" }),
  flows: [flow],
  surfaces: ["main"],
});
const handle = await app.runtime.start(flow, { n: 21 }, { executionId: "x" });
const result = await handle.result();
const shown = app.projectionRuntime.getState("main", "x");
await app.close();
process.stdout.write(`${JSON.stringify({ result, shown })}\n`);
