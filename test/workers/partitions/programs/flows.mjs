// The app module of most tests here: flows of every kind, and the effects and middleware they run with.

import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { threadId } from "node:worker_threads";
import { defineFlow, flow$, handler$, step$, ToolEffect } from "heddle";
import { surface } from "heddle/surface";
import { z } from "zod";

const anything = z.unknown();
const flow = (id, run, options = {}) =>
  defineFlow(flow$({ id, version: "1", inputSchema: anything, outputSchema: anything, ...options }), run);
const step = (id, run, options = {}) =>
  step$({ id, inputSchema: anything, outputSchema: anything, handler: handler$(run), ...options });

const work = step("work", (input) => input);
const slow = step("slow", async ({ ms, value }) => {
  await delay(ms);
  return value;
});
/** Leaves a line in a file: it survives the thread. */
const mark = ({ file }, line) => void (file && appendFileSync(file, `${line}\n`));

export const echo = flow("echo", (ctx, input) => ctx.run(work, input));
export const thread = flow("thread", (ctx) =>
  ctx.run(
    step("where", () => threadId),
    0,
  ),
);
export const count = flow("count", async (ctx, steps) => {
  let sum = 0;
  for (let i = 0; i < steps; i++) sum += await ctx.run({ ...work, id: `work#${i}` }, i);
  return sum;
});
export const waiting = flow("waiting", (ctx, input) => ctx.run(slow, input));
export const gated = flow(
  "gated",
  async (ctx, name) => {
    const { word } = await ctx.suspend({ on: "Go" });
    await ctx.run(work, word);
    return `${name}: ${word}`;
  },
  { resumeSchemas: { Go: z.object({ word: z.string() }) } },
);
export const twoGates = flow("two gates", async (ctx) => {
  const first = await ctx.suspend({ on: "First" });
  const second = await ctx.suspend({ on: "Second" });
  return [first, second];
});
export const sleeping = flow("sleeping", async (ctx, ms) => {
  await ctx.sleep(ms);
  return "awake";
});
export const failing = flow("failing", (ctx) =>
  ctx.run(
    step("fails", () => {
      throw Object.assign(new RangeError("out of range", { cause: new Error("deeper") }), { limit: 7 });
    }),
    0,
  ),
);
export const strict = flow("strict", async (_ctx, { n }) => n + 1, {
  inputSchema: z.object({ n: z.number() }),
});
export const shown = flow("shown", async (ctx, value) => {
  surface(ctx).set("value", value);
  return value;
});
export const values = flow("values", async (ctx, input) => {
  const seen = await ctx.run(work, input);
  const word = await ctx.suspend({ on: "Value" });
  ctx.emit("value.seen", word);
  return { seen, word };
});
export const large = flow("large", (ctx, bytes) =>
  ctx.run(
    step("large", () => "x".repeat(bytes)),
    0,
  ),
);
/** `steps` outcomes of so many bytes, one after the other. */
export const wide = flow("wide", async (ctx, { steps, bytes }) => {
  for (let i = 0; i < steps; i++)
    await ctx.run(
      step(`wide#${i}`, () => "x".repeat(bytes)),
      i,
    );
});
export const effectful = flow("effectful", async (ctx, input) => [
  await ctx.execute({ id: "shout", toolId: "shout" }, input),
  await ctx.run(work, input),
]);

/** Takes its thread down in the ways a thread can go, the first time. */
export const dying = flow("dying", async (ctx, input) => {
  const before = await ctx.run({ ...work, id: "before" }, "before");
  const how = await ctx.run(
    step("dies", (_input, { attempt }) => {
      mark(input, `dies ${attempt}`);
      if (attempt > 1) return input.how;
      if (input.how === "exit") process.exit(7);
      if (input.how === "throw")
        setTimeout(() => {
          throw new RangeError("from a timer");
        }, 1);
      if (input.how === "reject") void Promise.reject(new RangeError("nobody handles this"));
      if (input.how === "memory") {
        const hoard = [];
        for (;;) hoard.push(Array.from({ length: 10_000 }, () => ({ n: Math.random() })));
      }
      return new Promise(() => {});
    }),
    input,
  );
  return [before, how];
});
/** Takes its thread down in the ways a thread can go, each time. */
export const lethal = flow("lethal", async (ctx, how) => {
  const hoard = [];
  await ctx.run({ ...work, id: "before" }, 0);
  await ctx.run(
    step("dies", () => {
      if (how === "handler") process.exit(7);
      if (how === "timer")
        setTimeout(() => {
          throw new RangeError("from a timer");
        }, 1);
      return how === "timer" ? new Promise(() => {}) : 0;
    }),
    0,
  );
  if (how === "turn") process.exit(7);
  for (;;) hoard.push(Array.from({ length: 10_000 }, () => ({ n: Math.random() })));
});
export const stuck = flow("stuck", (ctx, input) =>
  ctx.run(
    step("stuck", (_input, { attempt, signal }) => {
      mark(input, `stuck ${attempt}`);
      if (attempt > 1) return "freed";
      if (input.how === "loop") for (;;);
      if (input.how === "deaf") return new Promise(() => {});
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          mark(input, `aborted ${signal.reason.code}`);
          reject(signal.reason);
        });
      });
    }),
    0,
  ),
);
export const pooled = flow("pooled", async (ctx) => ({
  actor: await ctx.run(
    step("actor", () => threadId),
    0,
  ),
  effect: await ctx.execute({ id: "effect", toolId: "place" }, 0),
}));
export const noise = "not a flow";

export function registerEffects(effects) {
  effects.register("shout", new ToolEffect((/** @type {string} */ input) => `${input}!`));
}
export const effectMiddleware = [
  async ({ toolId }, input, next) => (toolId === "shout" ? `[${await next(input)}]` : next(input)),
];

/** Leaves a line and takes its time. */
export const marked = flow("marked", (ctx, input) =>
  ctx.run(
    step("marks", async (_input, { attempt }) => {
      mark(input, `begins ${attempt}`);
      await delay(input.ms);
    }),
    0,
  ),
);
/** Cleans up when it is cancelled, once somebody says so. */
export const cleaning = flow("cleaning", async (ctx) => {
  try {
    await ctx.suspend({ on: "Never" });
  } finally {
    await ctx.shield(async (shielded) => {
      await shielded.suspend({ on: "Clean" });
      await shielded.run(
        step("undo", () => "undone"),
        0,
      );
    });
  }
});
