// A host that gets the package the CommonJS way and imports it as a module too: both must be one and the same.
//
//   node common.mjs DIR

import { createRequire } from "node:module";
import * as imported from "heddle";
import { z } from "zod";

const require = createRequire(import.meta.url);
const required = require("heddle");
const { surface } = require("heddle/surface");

const { defineConfig, defineFlow, flow$, lmdbStorage } = required;
const flow = defineFlow(
  flow$({ id: "f", version: "1", inputSchema: z.number(), outputSchema: z.number() }),
  async (ctx, n) => {
    surface(ctx).set("n", n);
    return n + 1;
  },
);
const app = defineConfig({
  storage: lmdbStorage({ dir: process.argv[2] }),
  flows: [flow],
  surfaces: ["main"],
});
const handle = await app.runtime.start(flow, 1, { executionId: "x" });
const result = await handle.result();
const shown = app.projectionRuntime.getState("main", "x");
await app.close();
process.stdout.write(
  `${JSON.stringify({ same: imported.HeddleError === required.HeddleError, result, shown })}\n`,
);
