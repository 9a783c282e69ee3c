// A step that gives documents of a thousand characters each, as a search would, and a flow that looks whether all have come.

import { defineFlow, flow$, handler$, type RegisteredFlow, step$ } from "heddle";
import { z } from "zod";
import type { Order, Receipt } from "../harness/side.js";
import { checked } from "./flows.js";

const TEXT = "All work and no play makes a log that grows. ".repeat(23).slice(0, 1_000);

export interface Found {
  readonly documents: readonly { readonly id: number; readonly text: string }[];
}

/** In memory once: what is recorded of it is a copy each time. */
export function foundOf(kilobytes: number): Found {
  return { documents: Array.from({ length: kilobytes }, (_, id) => ({ id, text: TEXT })) };
}

export function payloadFlow(found: Found): RegisteredFlow<Order, Receipt> {
  const search = step$({
    id: "search",
    inputSchema: checked.order,
    outputSchema: z.object({ documents: z.array(z.object({ id: z.number().int(), text: z.string() })) }),
    handler: handler$(() => found),
  });
  return defineFlow(
    flow$({
      id: "payload",
      version: "1.0.0",
      inputSchema: checked.order,
      outputSchema: checked.receipt,
      steps: [search],
    }),
    async (ctx, order) => {
      const { documents } = await ctx.run(search, order);
      const isWhole = documents.every(({ id, text }, n) => id === n && text.length === TEXT.length);
      return { ok: isWhole && documents.length === found.documents.length, n: order.n };
    },
  );
}
