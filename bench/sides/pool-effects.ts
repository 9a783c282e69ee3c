// What the threads of the pool questions run: the module of heddle's pool, and the same work as a task of plain Piscina.

import { setTimeout as delay } from "node:timers/promises";
import { ToolEffect } from "heddle";
import type { Order, Receipt } from "../harness/side.js";

export const BURN_MS = 5;
export const SLEEP_MS = 500;

export type Work = "trivial" | "burn" | "sleep";

const works: Readonly<Record<Work, (order: Order) => Promise<Receipt>>> = {
  trivial: async ({ n }) => ({ ok: true, n }),
  burn: async ({ n }) => {
    const end = performance.now() + BURN_MS;
    while (performance.now() < end);
    return { ok: true, n };
  },
  sleep: ({ n }) => delay(SLEEP_MS, { ok: true, n }),
};

export const effects = {
  trivial: new ToolEffect(works.trivial),
  burn: new ToolEffect(works.burn),
  sleep: new ToolEffect(works.sleep),
};

/** Plain Piscina calls this. */
export default function run({ effectId, input }: { effectId: Work; input: Order }): Promise<Receipt> {
  return works[effectId](input);
}
