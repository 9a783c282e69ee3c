// What partition threads load for the thread questions, and the host registers: one step that does nothing, or that works.

import { defineFlow, flow$, handler$, type RegisteredFlow, step$ } from "heddle";
import type { Order, Receipt } from "../harness/side.js";
import { chainFlow, checked } from "./flows.js";

export type Work = "nothing" | "100us";

/** Turns of a loop that take about 100 µs. A loop that watches the clock would count the time its thread is not running. */
const TURNS = 60_000;

export const nothing: RegisteredFlow<Order, Receipt> = chainFlow(1, checked);

const work = step$({
  id: "work",
  inputSchema: checked.order,
  outputSchema: checked.receipt,
  handler: handler$(({ n }) => ({ ok: churn(n) !== undefined, n })),
});

export const working: RegisteredFlow<Order, Receipt> = defineFlow(
  flow$({
    id: "working",
    version: "1.0.0",
    inputSchema: checked.order,
    outputSchema: checked.receipt,
    steps: [work],
  }),
  (ctx, order) => ctx.run(work, order),
);

function churn(seed: number): number {
  let value = seed | 1;
  for (let i = 0; i < TURNS; i++) value = (Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) + i) | 0;
  return value;
}
