// Flows: what heddle runs in this bench, written as a user writes flows: zod on the input of the flow, on the input of
// each step and on every output.

import {
  defineFlow,
  flow$,
  handler$,
  type RegisteredFlow,
  type Schema,
  type StepDefinition,
  step$,
} from "heddle";
import { z } from "zod";
import type { Order, Receipt } from "../harness/side.js";

export interface Schemas {
  readonly order: Schema<Order>;
  readonly receipt: Schema<Receipt>;
}

export const checked: Schemas = {
  order: z.object({ target: z.string().min(1), n: z.number().int() }),
  receipt: z.object({ ok: z.boolean(), n: z.number().int() }),
};

/** Schemas that let everything through. */
export const unchecked: Schemas = { order: z.custom<Order>(), receipt: z.custom<Receipt>() };

/** So many steps, one after the other. */
export function chainFlow(steps: number, schemas: Schemas): RegisteredFlow<Order, Receipt> {
  const chain = stepsOf(steps, schemas);
  const definition = flow$({
    id: "chain",
    version: "1.0.0",
    inputSchema: schemas.order,
    outputSchema: schemas.receipt,
    steps: chain,
  });
  return defineFlow(definition, async (ctx, order) => {
    let receipt: Receipt = { ok: false, n: order.n };
    for (const step of chain) receipt = await ctx.run(step, { target: order.target, n: receipt.n });
    return receipt;
  });
}

export const GATE = "Go";

/** The same, and then a gate before the end. */
export function gatedFlow(steps: number): RegisteredFlow<Order, Receipt> {
  const chain = stepsOf(steps, checked);
  const definition = flow$({
    id: "gated",
    version: "1.0.0",
    inputSchema: checked.order,
    outputSchema: checked.receipt,
    steps: chain,
    resumeSchemas: { [GATE]: z.object({ approved: z.boolean() }) },
  });
  return defineFlow(definition, async (ctx, order) => {
    let receipt: Receipt = { ok: false, n: order.n };
    for (const step of chain) receipt = await ctx.run(step, { target: order.target, n: receipt.n });
    const { approved } = await ctx.suspend<{ approved: boolean }>({ on: GATE });
    return { ok: receipt.ok && approved, n: receipt.n };
  });
}

function stepsOf(steps: number, { order, receipt }: Schemas): StepDefinition<Order, Receipt>[] {
  return Array.from({ length: steps }, (_, i) =>
    step$({
      id: `s${i}`,
      inputSchema: order,
      outputSchema: receipt,
      handler: handler$(({ n }) => ({ ok: true, n })),
    }),
  );
}
