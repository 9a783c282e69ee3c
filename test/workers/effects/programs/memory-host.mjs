// A host that does one large thing, in a process of its own, and says what it cost: the most memory the process had beyond what it
// had when it had done the same with a little. Arguments: directory, what to do, megabytes.

import { readFileSync } from "node:fs";
import { defineConfig, defineFlow, flow$, lmdbStorage } from "heddle";
import { z } from "zod";
import { effects } from "./memory-effects.mjs";

const [dir, what, megabytes] = process.argv.slice(2);
const anything = z.unknown();
const flow = (id, run) =>
  defineFlow(flow$({ id, version: "1", inputSchema: anything, outputSchema: anything }), run);

const dump = flow("dump", (ctx, input) => ctx.execute({ id: "dump" }, input));
const invert = flow("invert", (ctx, input) =>
  ctx.parallel([
    () => ctx.execute({ id: "invert" }, input),
    () => ctx.execute({ id: "sibling", toolId: "dump" }, { megabytes: 1 }),
  ]),
);

const app = defineConfig({
  storage: lmdbStorage({ dir }),
  flows: [dump, invert],
  execution: {
    claimCheck: { toolIds: ["invert"] },
    ...(what === "inline" && {
      registerEffects: (runtime) => {
        for (const [id, effect] of Object.entries(effects)) runtime.register(id, effect);
      },
    }),
  },
  ...(what !== "inline" && {
    workers: { effects: { module: new URL("./memory-effects.mjs", import.meta.url), maxThreads: 1 } },
  }),
});
await app.start();
const { contentStore } = app.stores;

/** Content of so many megabytes, made without holding it. */
async function put(count) {
  const megabyte = Buffer.alloc(1024 * 1024);
  const pour = async function* () {
    for (let n = 0; n < count; n++) yield megabyte.fill(n);
  };
  const { ref, size } = await contentStore.put(pour());
  return { __loomClaimCheck: true, ref, size, codec: "bytes" };
}

async function run(count) {
  if (what === "stream") return (await app.runtime.start(dump, { megabytes: count })).result();
  const [output] = await (await app.runtime.start(invert, await put(count))).result();
  return output;
}

/** Anonymous memory: pages of the log's file are the system's to take back. */
const anonymous = () =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "latin1"))[1]) * 1024;
const heap = () => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

await run(8);
gc();
const before = { anonymous: anonymous(), heap: heap() };
const peak = { ...before };
const sample = setInterval(() => {
  peak.anonymous = Math.max(peak.anonymous, anonymous());
  peak.heap = Math.max(peak.heap, heap());
}, 5);
const output = await run(Number(megabytes));
clearInterval(sample);

let bytes = 0;
let isRight = true;
const unit = what === "stream" ? 65_536 : 1_048_576;
const flipped = what === "stream" ? 0 : 0xff;
for await (const piece of await contentStore.stream(output.ref)) {
  for (let n = (4096 - (bytes % 4096)) % 4096; n < piece.length; n += 4096)
    isRight &&= piece[n] === ((Math.floor((bytes + n) / unit) & 0xff) ^ flipped);
  bytes += piece.length;
}
process.stdout.write(
  JSON.stringify({
    output,
    bytes,
    isRight,
    processPeak: peak.anonymous - before.anonymous,
    hostPeak: peak.heap - before.heap,
  }),
);
await app.close();
