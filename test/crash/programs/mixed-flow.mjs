// The flow of the crash tests: every operation a flow has, with results that depend on its input alone, so that a run
// that was killed over and over must end like one that never was. Its effects write to an outside counter.

import { openSync, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineFlow, flow$, handler$, step$ } from "heddle";
import { surface } from "heddle/surface";
import { z } from "zod";

const numbers = z.object({ n: z.number() });

/**
 * The outside world: a file that only grows. A line is handed to the operating system before the call returns, so it
 * outlives a SIGKILL of the writer; lines of several processes never mix.
 */
export function openCounter(path) {
  const fd = openSync(path, "a");
  return (line) => void writeSync(fd, `${JSON.stringify(line)}\n`);
}

/** `at(point)` is called wherever a crash is of interest; it may not come back. */
export function mixedFlow(count, at) {
  const step = (id, work, options = {}) =>
    step$({
      id,
      inputSchema: numbers,
      outputSchema: z.number(),
      handler: handler$(async (input, ctx) => {
        const { executionId, idempotencyKey, attempt } = ctx;
        count({ moment: "start", executionId, stepId: id, idempotencyKey, attempt });
        at("effectStarted");
        const result = await work(input, ctx);
        count({ moment: "finish", executionId, stepId: id, idempotencyKey, attempt });
        at("effectFinished");
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
  const last = step("last", async ({ n }) => {
    await delay(1);
    return n - 1;
  });

  return defineFlow(
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
      const { word } = await ctx.suspend({ on: "Go", correlationKey: `order-${n}`, timeout: 3_600_000 });
      ui.append("words", word);
      const d = await ctx.run(last, { n: c });
      ctx.stream("mixed.note", "way", true);
      ui.set("phase", "done");
      return { n, a, b, parts, route, c, d, word };
    },
  );
}
