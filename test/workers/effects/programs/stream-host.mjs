// A host that streams a result from its pool, to be killed in the middle of it. Arguments: directory, file of marks.

import { defineConfig, lmdbStorage } from "heddle";
import { claimCheck, single } from "./streams.mjs";

const [dir, file] = process.argv.slice(2);
const app = defineConfig({
  storage: lmdbStorage({ dir }),
  flows: [single],
  execution: { claimCheck },
  workers: { effects: { module: new URL("./streams.mjs", import.meta.url), maxThreads: 1 } },
});
const input = { file, pieces: 300, ms: 1 };
await app.runtime.start(single, { toolId: "dump", input }, { executionId: "killed" });
