// Flows that call one effect with each of their inputs.

import { defineFlow, flow$ } from "heddle";
import { z } from "zod";

const anything = z.unknown();
const flow = (id, run) =>
  defineFlow(flow$({ id, version: "1", inputSchema: anything, outputSchema: anything }), run);
const caught = (error) => error.code;

/** One after the other. */
export const inTurn = flow("in turn", async (ctx, { toolId = "use", inputs, retry }) => {
  const came = [];
  for (const [i, input] of inputs.entries())
    came.push(await ctx.execute({ id: `${toolId}#${i}`, toolId, retry }, input).catch(caught));
  return came;
});
/** All of them. */
export const atOnce = flow("at once", (ctx, { toolId = "use", inputs }) =>
  Promise.all(inputs.map((input, i) => ctx.execute({ id: `${toolId}#${i}`, toolId }, input).catch(caught))),
);
