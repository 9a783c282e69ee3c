// A host whose disk runs full under its partition threads: it starts executions with large results until a commit fails,
// says what it heard, and closes.
//
//   node disk-full.mjs DIR

import { defineConfig, HeddleError, lmdbStorage } from "heddle";
import * as flows from "./flows.mjs";

const heard = [];
const app = defineConfig({
  storage: lmdbStorage({ dir: process.argv[2], partitions: 2 }),
  flowModules: [flows],
  workers: { actors: 2, app: new URL("./flows.mjs", import.meta.url) },
  observability: {
    onStorageError: (id, error) => heard.push([id, error.code, error instanceof HeddleError]),
  },
});
let refused;
for (let i = 0; i < 200 && !refused; i++) {
  await app.runtime
    .start(flows.large, 200_000)
    .then((handle) => handle.result())
    .catch((error) => {
      refused = [error.code, error instanceof HeddleError, error.retryable];
    });
}
await app.close({ deadlineMs: 1_000 });
process.stdout.write(`${JSON.stringify({ heard: heard[0], refused })}\n`);
