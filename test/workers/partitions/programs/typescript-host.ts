// A TypeScript host, run through a loader, whose flows are TypeScript too: what registers the loader in the threads is the
// module that they are given.
//
//   node --import tsx typescript-host.ts DIR

import { defineConfig, lmdbStorage } from "heddle";
import { double } from "./typed-flows.js";

const app = defineConfig({
  storage: lmdbStorage({ dir: process.argv[2] ?? "" }),
  flows: [double],
  workers: { actors: 1, app: new URL("./typed-flows.mjs", import.meta.url) },
});
const handle = await app.runtime.start(double, { n: 21 });
const result = await handle.result();
await app.close();
process.stdout.write(`${JSON.stringify({ result })}\n`);
