// What partition threads load for the thread questions, and the host registers: one step that does nothing, or that works.

import { defineFlow, flow$, handler$, type RegisteredFlow, step$ } from "heddle";
import type { Order, Receipt } from "../harness/side.js";
import { chainFlow, checked } from "./flows.js";

export type Work = "nothing" | "100us" | "200us";

/** Turns of a loop that take about a microsecond. A loop that watches the clock would count the time its thread is not running. */
const TURNS_A_MICROSECOND = 600;

export const nothing: RegisteredFlow<Order, Receipt> = chainFlow(1, checked);

export const working: RegisteredFlow<Order, Receipt> = workingFor(100);
export const workingLonger: RegisteredFlow<Order, Receipt> = workingFor(200);

export function flowOf(work: Work): RegisteredFlow<Order, Receipt> {
  return { nothing, "100us": working, "200us": workingLonger }[work];
}

function workingFor(us: number): RegisteredFlow<Order, Receipt> {
  const work = step$({
    id: "work",
    inputSchema: checked.order,
    outputSchema: checked.receipt,
    handler: handler$(({ n }) => ({ ok: churn(n, us * TURNS_A_MICROSECOND) !== undefined, n })),
  });
  return defineFlow(
    flow$({
      id: `working-${us}us`,
      version: "1.0.0",
      inputSchema: checked.order,
      outputSchema: checked.receipt,
      steps: [work],
    }),
    (ctx, order) => ctx.run(work, order),
  );
}

function churn(seed: number, turns: number): number {
  let value = seed | 1;
  for (let i = 0; i < turns; i++) value = (Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) + i) | 0;
  return value;
}
