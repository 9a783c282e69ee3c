// Flows around effects of the pool. The host registers them, and partition threads load the same module.

import { defineFlow, flow$ } from "heddle";
import { z } from "zod";

const anything = z.unknown();
const flow = (id, run, options = {}) =>
  defineFlow(flow$({ id, version: "1", inputSchema: anything, outputSchema: anything, ...options }), run);
const task = (id, toolId, options = {}) => ({ id, toolId, ...options });

const soon = { maxAttempts: 3, baseDelayMs: 1 };

/** Whatever one step can be asked for: the input says. */
export const single = flow("single", (ctx, { id = "step", toolId, input, options }) =>
  ctx.execute(task(id, toolId, options), input),
);
/** The middle one takes its thread down, the first time it is tried. */
export const fragile = flow("fragile", async (ctx, input) => [
  await ctx.execute(task("before", "work"), { ...input, value: 1 }),
  await ctx.execute(task("middle", "exitsOnce", { retry: soon }), input),
  await ctx.execute(task("after", "work"), { ...input, value: 3 }),
]);
export const healthy = flow("healthy", async (ctx, input) => [
  await ctx.execute(task("before", "work"), { ...input, value: 1 }),
  await ctx.execute(task("middle", "work"), { ...input, value: 2 }),
  await ctx.execute(task("after", "work"), { ...input, value: 3 }),
]);
/** As many steps at once; gives how many of them came back. */
export const wide = flow("wide", async (ctx, { steps, input }) => {
  const branches = Array.from({ length: steps }, (_, n) => [task(`wide#${n}`, "echo"), input ?? n]);
  const results = await ctx.parallel(branches);
  return results.length;
});
/** Holds nothing while it waits, so others get their turn, whatever the limits are. */
export const patient = flow(
  "patient",
  async (ctx, input) => {
    const before = await ctx.execute(task("before", "work"), { ...input, value: "before" });
    await ctx.sleep(20);
    const asleep = await ctx.execute(task("rested", "failsOnce", { retry: soon }), {
      ...input,
      value: "rested",
    });
    const [word, beside] = await ctx.parallel([
      () => ctx.suspend({ on: "Go" }),
      [task("beside", "work"), { ...input, value: "beside" }],
    ]);
    const after = await ctx.execute(task("after", "work"), { ...input, value: "after" });
    return [before, asleep, word, beside, after];
  },
  { resumeSchemas: { Go: z.string() } },
);
export const unsendable = flow("unsendable", (ctx) =>
  ctx.execute(task("step", "echo"), { rows: [1, { cb() {} }] }),
);
/** What a flow sees of a failure. */
export const caught = flow("caught", async (ctx, { toolId, input, options }) => {
  try {
    return { value: await ctx.execute(task("step", toolId, options), input) };
  } catch (error) {
    const { name, code, channel, payload } = error;
    return { name, code, channel, payload };
  }
});
