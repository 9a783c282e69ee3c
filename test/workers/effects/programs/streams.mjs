// The module of the pool, and of partition threads, for results that are streams, and for large values. What an effect has done
// it leaves in a file: a line for each piece, and one when its stream was let go of.

import { appendFileSync, existsSync } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { defineFlow, flow$, streamResult, ToolEffect } from "heddle";
import { z } from "zod";

const anything = z.unknown();
const flow = (id, run) =>
  defineFlow(flow$({ id, version: "1", inputSchema: anything, outputSchema: anything }), run);
const mark = (file, what) => file && appendFileSync(file, `${what}\n`);

/** `pieces` of `bytes` bytes; after `breakAt` of them, `broken` decides what happens. */
async function* pour({ file, pieces, bytes = 100_000, breakAt = Infinity, ms }, broken) {
  try {
    for (let n = 0; n < pieces; n++) {
      if (n === breakAt) await broken();
      if (ms) await delay(ms);
      mark(file, "piece");
      yield Buffer.alloc(bytes, n);
    }
  } finally {
    mark(file, "let go");
  }
}

export const effects = {
  dump: new ToolEffect((input, ctx) => {
    mark(input.file, `begin ${ctx.attempt}`);
    let given = 0;
    const source = async function* () {
      for await (const piece of pour(input, () => {})) {
        given += piece.length;
        yield piece;
      }
    };
    return streamResult(source(), { digest: () => ({ given }), contentType: "application/x-dump" });
  }),
  breaks: new ToolEffect((input) =>
    streamResult(
      pour(input, () => {
        throw Object.assign(new Error("the cable was cut"), { code: "ECABLE" });
      }),
    ),
  ),
  dies: new ToolEffect((input) => streamResult(pour(input, () => process.exit(7)))),
  diesOnce: new ToolEffect((input, ctx) =>
    streamResult(
      pour(input, () => {
        if (ctx.attempt === 1) process.exit(7);
      }),
    ),
  ),
  /** Takes the thread down once the file has so many lines; the next time it does not. */
  exits: new ToolEffect(async ({ file, done }) => {
    if (existsSync(done)) return "well";
    while (!existsSync(file)) await delay(1);
    mark(done, "exit");
    process.exit(3);
  }),
  badDigest: new ToolEffect((input) =>
    streamResult(pour(input), {
      digest: () => {
        throw new Error("lost count");
      },
    }),
  ),
  objects: new ToolEffect(() => streamResult(Readable.from([{ row: 1 }]))),
  bare: new ToolEffect(({ file }) => {
    const stream = new Readable({ read() {} });
    stream.on("close", () => mark(file, "closed"));
    return stream;
  }),
  reverse: new ToolEffect((input) => {
    const bytes = input.document ?? input;
    return Buffer.from(bytes).reverse();
  }),
  list: new ToolEffect(({ items }) => Array.from({ length: items }, (_, n) => `item number ${n}`)),
  echo: new ToolEffect((input) => input),
};

/** Whatever one step can be asked for, beside one that is well. */
export const single = flow("single", async (ctx, { toolId, input, options }) => {
  const [result, sibling] = await ctx.parallel([
    () => ctx.execute({ id: "step", toolId, ...options }, input),
    () => ctx.execute({ id: "sibling", toolId: "echo" }, "well"),
  ]);
  return { result, sibling };
});

/** One that streams beside one that takes the thread down. */
export const pair = flow("pair", async (ctx, { dump, exits }) =>
  ctx.parallel([
    () => ctx.execute({ id: "dump", toolId: "dump" }, dump),
    () => ctx.execute({ id: "exits", toolId: "exits", retry: { maxAttempts: 2, baseDelayMs: 1 } }, exits),
  ]),
);

export const claimCheck = { toolIds: ["reverse", "list"], reclaimable: true };
