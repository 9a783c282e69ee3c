// One execution of many steps, each of which does nothing.

import { defineConfig, defineFlow, flow$, handler$, lmdbStorage, step$ } from "heddle";
import { z } from "zod";
import type { Sync } from "../harness/side.js";
import { checked } from "./flows.js";

/** The first steps of a process are those its compiler learns from: they are another execution's. */
const WARM_UP_STEPS = 2_000;

/** Each step's time, from when it runs to when the next one does, which is after a commit. */
export async function timesOfSteps(directory: string, steps: number, sync: Sync): Promise<Float64Array> {
  let ranMs = new Float64Array(0);
  const step = step$({
    id: "step",
    inputSchema: checked.order,
    outputSchema: checked.receipt,
    handler: handler$(({ n }) => {
      ranMs[n] = performance.now();
      return { ok: true, n };
    }),
  });
  const flow = defineFlow(
    flow$({ id: "long", version: "1", inputSchema: z.number(), outputSchema: z.number() }),
    async (ctx, count) => {
      let done = 0;
      for (let n = 0; n < count; n++) {
        const receipt = await ctx.run({ ...step, id: `step#${n}` }, { target: "db-1", n });
        if (receipt.n === n) done++;
      }
      return done;
    },
  );
  const app = defineConfig({ storage: lmdbStorage({ dir: directory, sync }), flows: [flow] });
  const run = async (count: number): Promise<void> => {
    ranMs = new Float64Array(count);
    const handle = await app.runtime.start(flow, count);
    const done = await handle.result();
    if (done !== count) throw new Error(`Of ${count} steps ${String(done)} came out as they should.`);
  };
  await app.start();
  await run(WARM_UP_STEPS);
  await run(steps);
  await app.close();
  return Float64Array.from({ length: steps - 1 }, (_, n) => ranMs[n + 1]! - ranMs[n]!);
}
