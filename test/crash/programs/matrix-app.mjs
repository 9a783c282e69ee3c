// The flow of the crash matrix, and its effects for whoever runs them in the thread of their execution: the host, or a
// partition thread that loads this module.

import { defineFlow, flow$ } from "heddle";
import { z } from "zod";
import { effects } from "./matrix-effects.mjs";

const anything = z.unknown();

/** Pays, and then notes it. `filler` makes the commit of its start as large as a test wants. */
export const payment = defineFlow(
  flow$({ id: "payment", version: "1", inputSchema: anything, outputSchema: anything }),
  async (ctx, { idempotent }) => {
    const pay = { id: "pay", toolId: "pay", idempotent };
    const paid = await ctx.execute(pay, null).catch((error) => error.message);
    const noted = await ctx.execute({ id: "note", toolId: "note" }, null);
    return { paid, noted };
  },
);

const isPooled = process.env.HEDDLE_MATRIX_POOLED === "1";
export function registerEffects(registry) {
  if (isPooled) return;
  for (const [id, effect] of Object.entries(effects)) registry.register(id, effect);
}
