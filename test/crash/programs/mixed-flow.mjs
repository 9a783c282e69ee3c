// The flow of the crash tests: every operation a flow has, with results that depend on its input alone, so that a run
// that was killed over and over must end like one that never was. Its effects write to an outside counter, and die where
// death.mjs says. Hosts import this module, and partition threads load it.

import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineFlow, flow$, handler$, step$ } from "heddle";
import { surface } from "heddle/surface";
import { z } from "zod";
import { count, counterPath } from "./counter.mjs";
import { at } from "./death.mjs";

const numbers = z.object({ n: z.number() });

const step = (id, work, options = {}) =>
  step$({
    id,
    inputSchema: numbers,
    outputSchema: z.number(),
    handler: handler$(async (input, ctx) => {
      count("start", ctx);
      at("effectStarted");
      at(`${id} started`);
      const result = await work(input, ctx);
      count("finish", ctx);
      at("effectFinished");
      at(`${id} finished`);
      return result;
    }),
    ...options,
  });

const first = step("first", ({ n }) => n + 1);
const second = step("second", async ({ n }, ctx) => {
  ctx.emit("second.seen", { n });
  await delay(1);
  return n * 3;
});
const part = (i) =>
  step(`part#${i}`, async ({ n }) => {
    await delay(i % 3);
    return n * 10 + i;
  });
const flaky = step(
  "flaky",
  ({ n }, { attempt }) => {
    if (attempt < 2) throw new Error("not yet");
    return n + 7;
  },
  { retry: { maxAttempts: 4, baseDelayMs: 3 } },
);
const oncePlus = ({ n }) => n + 100;
/** Nobody can tell a repeat of it from a second one. */
const once = step(
  "once",
  async (input) => {
    await delay(1);
    return oncePlus(input);
  },
  { idempotent: false },
);
const last = step("last", async ({ n }) => {
  await delay(1);
  return n - 1;
});

export const mixed = defineFlow(
  flow$({
    id: "mixed",
    version: "1",
    inputSchema: numbers,
    outputSchema: z.unknown(),
    resumeSchemas: { Go: z.object({ word: z.string() }) },
  }),
  async (ctx, { n }) => {
    const ui = surface(ctx);
    ui.set("phase", "started");
    const a = await ctx.run(first, { n });
    const b = await ctx.run(second, { n: a });
    ctx.emit("mixed.counted", { a, b });
    const parts = await ctx.parallel(
      [0, 1, 2, 3, 4].map((i) => [part(i), { n: b }]),
      { limit: 2 },
    );
    ui.merge("sums", { parts: parts.reduce((sum, x) => sum + x, 0) });
    const route = await ctx.decide("route", async () => (n % 2 === 0 ? "even" : "odd"));
    await ctx.sleep(4);
    ctx.stream("mixed.note", `on the ${route} `, false);
    const c = await ctx.run(flaky, { n: b });
    const e = await ctx.run(once, { n: c });
    const { word } = await ctx.suspend({ on: "Go", correlationKey: `order-${n}`, timeout: 3_600_000 });
    ui.append("words", word);
    const d = await ctx.run(last, { n: c });
    ctx.stream("mixed.note", "way", true);
    ui.set("phase", "done");
    return { n, a, b, parts, route, c, d, e, word };
  },
);

/** What somebody who looks into the world finds out of a step in doubt. */
export function verdictOn(executionId, { stepId, attempts, input }) {
  const lines = readFileSync(counterPath, "utf8").split("\n");
  const isDone = lines.some((line) => {
    if (!line.endsWith("}")) return false; // the end of the file, or a line a kill has cut
    const seen = JSON.parse(line);
    return (
      seen.moment === "finish" &&
      seen.executionId === executionId &&
      seen.stepId === stepId &&
      seen.attempt === attempts
    );
  });
  return isDone ? { outcome: oncePlus(input) } : { retry: true };
}
