// A host that has heddle twice: the package, and another copy of its files, as a reloading dev server makes them.
//
//   node two-copies.mjs DIR COPY

import * as first from "heddle";
import { z } from "zod";

const [dir, copy] = process.argv.slice(2);
const second = await import(copy);
const anything = z.unknown();
const flowOf = ({ defineFlow, flow$ }) =>
  defineFlow(
    flow$({ id: "f", version: "1", inputSchema: anything, outputSchema: anything }),
    async (ctx, n) => n,
  );
const open = ({ defineConfig, lmdbStorage }, flow) =>
  defineConfig({ storage: lmdbStorage({ dir }), flows: [flow] });

const report = { same: first.HeddleError === second.HeddleError };
const one = open(first, flowOf(first));
await one.start();
const two = open(second, flowOf(second));
try {
  await two.start();
  report.second = "opened";
} catch (error) {
  report.second = error.code;
  report.owner = error.details.owner.pid === process.pid;
}
// Definitions of one copy run in the other: they are plain data.
const flow = flowOf(second);
await one.close();
await two.start();
report.result = await (await two.runtime.start(flow, 7)).result();
report.read = (await one.stores.eventStore.list().catch((error) => error.code)) === "STORAGE_FAILED";
await two.close();
process.stdout.write(`${JSON.stringify(report)}\n`);
