// A host under load: starts one small execution after the other, on several lanes, and says which were acknowledged.
//
//   node busy-owner.mjs DIR

import { writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { z } from "zod";

const anything = z.unknown();
const work = step$({
  id: "work",
  inputSchema: anything,
  outputSchema: anything,
  handler: handler$((n) => delay(1, n)),
});
const counted = defineFlow(
  flow$({ id: "counted", version: "1", inputSchema: anything, outputSchema: anything }),
  (ctx, n) => ctx.run(work, n),
);
const app = defineConfig({ storage: lmdbStorage({ dir: process.argv[2] }), flows: [counted] });
try {
  await app.start();
} catch (error) {
  writeSync(
    1,
    `refused ${JSON.stringify({ code: error.code, message: error.message, owner: error.details.owner?.pid })}\n`,
  );
  process.exit(3);
}
writeSync(1, "open\n");
const lane = async (name) => {
  for (let i = 0; ; i++) {
    const id = `${process.pid}-${name}-${i}`;
    const handle = await app.runtime.start(counted, i, { executionId: id });
    writeSync(1, `started ${id}\n`);
    await handle.result();
    writeSync(1, `ended ${id}\n`);
  }
};
await Promise.all(["a", "b", "c"].map(lane));
