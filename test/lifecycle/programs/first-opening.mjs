// Opens a directory for the first time, and says how that ended.

import { defineConfig, lmdbStorage } from "heddle";

const app = defineConfig({ storage: lmdbStorage({ dir: process.argv[2] }), autostart: false });
try {
  await app.start();
  process.stdout.write("opened\n");
} catch (error) {
  process.stdout.write(`${error.code}\n`);
}
await app.close();
process.stdout.write("closed\n");
