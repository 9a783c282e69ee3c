// A host that opens a directory, looks at what is there and closes it again. Prints what came of it as a line of JSON.
//
//   node open-once.mjs DIR

import { defineConfig, lmdbStorage } from "heddle";

const say = (report) => process.stdout.write(`${JSON.stringify(report)}\n`);
const app = defineConfig({ storage: lmdbStorage({ dir: process.argv[2] }), autostart: false });
try {
  await app.start();
  const found = await app.runtime.list({ limit: 1_000 });
  for (const { id } of found) await app.stores.eventStore.read(id);
  say({ found: found.length });
} catch ({ code, message }) {
  say({ code, message });
}
await app.close();
