// Directories written by a real runtime, for the command line to read.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import {
  defineConfig,
  defineFlow,
  fail,
  flow$,
  handler$,
  type LoomApp,
  lmdbStorage,
  type RegisteredFlow,
  step$,
} from "../../src/index.js";
import { latch } from "../support/latch.js";

const any = z.unknown();

const echo = step$({
  id: "echo",
  inputSchema: any,
  outputSchema: any,
  handler: handler$((input, ctx) => {
    ctx.emit("Echoed", { attempt: ctx.attempt });
    return input;
  }),
});

const flaky = step$({
  id: "flaky",
  inputSchema: any,
  outputSchema: any,
  retry: { maxAttempts: 2, baseDelayMs: 1 },
  handler: handler$(() => {
    throw Object.assign(new TypeError("no good"), { code: "E_FLAKY" });
  }),
});

const quota = step$({
  id: "quota",
  inputSchema: any,
  outputSchema: any,
  errors: { spent: z.object({ left: z.number() }) },
  handler: handler$(() => fail("spent", { left: 0 })),
});

/** Records every kind of event there is, but the ends it does not come to. */
export const tour = defineFlow(
  flow$({ id: "tour", version: "3", inputSchema: any, outputSchema: any }),
  async (ctx, input) => {
    ctx.ui.set("title", "hello");
    const said = await ctx.run(echo, input);
    await ctx.decide("route", () => "left", { rationale: { why: "it is nearer" }, source: "rule" });
    await ctx.decide("broken", () => Promise.reject(new Error("no opinion"))).catch(() => {});
    ctx.emit("Ordered", { id: 1 });
    ctx.stream("Spoken", "some words", false);
    await ctx.run(flaky, 1).catch(() => {});
    await ctx.run(quota, 2).catch(() => {});
    ctx.now();
    await ctx.sleep(1);
    await ctx.suspend({ on: "Nobody", timeout: 1 }).catch(() => {});
    const approval = await ctx.suspend({ on: "Approval", correlationKey: "desk-7" });
    if (approval === "fail") throw new RangeError("not approved");
    return { said, approval };
  },
);

/** One step that gives back its input. */
export const short = defineFlow(
  flow$({ id: "short", version: "1", inputSchema: any, outputSchema: any }),
  async (ctx, input) => ctx.run(echo, input),
);

/** A step a value, named after it, that takes the value in and gives it back. */
export function valuesFlow(values: ReadonlyMap<string, unknown>): RegisteredFlow {
  return defineFlow(
    flow$({ id: "values", version: "1", inputSchema: any, outputSchema: any }),
    async (ctx) => {
      for (const [name, value] of values) await ctx.run({ ...echo, id: name, handler: silent }, value);
      return null;
    },
  );
}

const silent = handler$((input: unknown) => input);

export interface WrittenLog {
  readonly dir: string;
  remove(): void;
}

export function temporaryLog(): WrittenLog {
  const root = mkdtempSync(join(tmpdir(), "heddle-cli-"));
  return { dir: join(root, "log"), remove: () => rmSync(root, { recursive: true, force: true }) };
}

export function openApp(dir: string, flows: RegisteredFlow[], partitions?: number): LoomApp {
  return defineConfig({ storage: lmdbStorage({ dir, sync: "commit", partitions }), flows });
}

/**
 * Four executions, started in this order: `tour-done` completed, `tour-failed`, `tour-cancelled` (while it waited), and
 * `tour-waiting` at its gate. `aside` is one that the runtime could not go on with.
 */
export async function writeTours(dir: string, partitions?: number): Promise<void> {
  const app = openApp(dir, [tour, short], partitions);
  const { runtime } = app;
  for (const id of ["tour-done", "tour-failed", "tour-cancelled", "tour-waiting"]) {
    const handle = await runtime.start(tour, { order: id }, { executionId: id });
    await untilApproval(app, id);
    if (id === "tour-done") await runtime.resume(id, { eventType: "Approval", payload: "yes" });
    if (id === "tour-failed") await runtime.resume(id, { eventType: "Approval", payload: "fail" });
    if (id === "tour-cancelled") await runtime.cancel(id, "changed our mind");
    if (id !== "tour-waiting") await handle.waitForCompletion();
  }
  await app.close();
}

/** An execution whose flow the next runtime does not know, and which is therefore set aside. */
export async function writeSetAside(dir: string, id: string): Promise<void> {
  const before = openApp(dir, [tour]);
  await before.runtime.start(tour, {}, { executionId: id });
  await untilApproval(before, id);
  await before.close();
  const after = openApp(dir, [short]);
  await after.runtime.resume(id, { eventType: "Approval", payload: "yes" }).catch(() => {});
  await after.close();
}

/** A cancelled execution whose only step did not hear of it, and was done afterwards. */
export async function writeLate(dir: string, id: string): Promise<void> {
  const running = latch();
  const finish = latch();
  const deaf = step$({
    id: "deaf",
    inputSchema: any,
    outputSchema: any,
    handler: handler$(() => {
      running.open();
      return finish.opened;
    }),
  });
  const flow = defineFlow(flow$({ id: "late", version: "1", inputSchema: any, outputSchema: any }), (ctx) =>
    ctx.run(deaf, 7),
  );
  const app = openApp(dir, [flow]);
  await app.runtime.start(flow, null, { executionId: id });
  await running.opened;
  await app.runtime.cancel(id, "enough");
  finish.open();
  await app.close(); // what is under way is recorded before the log is closed
}

/** A flow around steps that may not run twice, one after the other with the names of its input; `pay` is their effect. */
export function paymentFlow(pay: (stepId: string, attempt: number) => unknown): RegisteredFlow {
  const step = (id: string) =>
    step$({
      id,
      inputSchema: any,
      outputSchema: any,
      idempotent: false,
      handler: handler$((_input, ctx) => pay(id, ctx.attempt)),
    });
  return defineFlow(
    flow$({ id: "payment", version: "1", inputSchema: any, outputSchema: any }),
    async (ctx, steps) => {
      const branches = (steps as string[]).map((id) => ctx.run(step(id), { cents: 700 }));
      const settled = await Promise.allSettled(branches);
      return settled.map((each) => (each.status === "fulfilled" ? each.value : String(each.reason)));
    },
  );
}

/** An execution whose steps were cut short and may not run again. */
export async function writeInDoubt(
  dir: string,
  id: string,
  steps: readonly string[] = ["pay"],
): Promise<void> {
  let under = 0;
  const running = latch();
  const flow = paymentFlow(() => {
    if (++under === steps.length) running.open();
    return new Promise(() => {});
  });
  const before = openApp(dir, [flow]);
  await before.runtime.start(flow, steps, { executionId: id });
  await running.opened;
  await before.close({ deadlineMs: 0 });
  const after = openApp(dir, [flow]);
  await after.runtime.handle(id).waitForSuspend();
  await after.close();
}

/** An execution whose first step is made twice, and whose second is over the budget of its flow. */
export async function writeOverBudget(dir: string, id: string): Promise<void> {
  const ask = step$({
    id: "ask",
    inputSchema: any,
    outputSchema: any,
    retry: { maxAttempts: 2, baseDelayMs: 1 },
    handler: handler$((_input, { attempt, meter }) => {
      if (attempt === 1) throw new Error("busy");
      meter({ tokens: 12, cost: 0.5 });
    }),
  });
  const flow = defineFlow(
    flow$({ id: "asking", version: "1", inputSchema: any, outputSchema: any }),
    async (ctx) => {
      await ctx.run(ask, 0);
      await ctx.run({ ...ask, id: "ask#1" }, 0);
    },
  );
  const app = defineConfig({
    storage: lmdbStorage({ dir, sync: "commit" }),
    flows: [flow],
    execution: { envelope: { budgets: [{ scope: "flow", meter: "tokens", limit: 10 }] } },
  });
  const handle = await app.runtime.start(flow, {}, { executionId: id });
  await handle.waitForCompletion();
  await app.close();
}

/** Waits for the gate that only a person closes; the gates before it close by themselves. */
async function untilApproval(app: LoomApp, id: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = app.stores.eventStore.subscribe(
      id,
      ({ type, payload }) => {
        if (type !== "EXECUTION_SUSPENDED" || (payload as { on: string }).on !== "Approval") return;
        end();
        resolve();
      },
      { from: 0 },
    );
  });
}

/** Every path below a directory: what a reader must leave as it is. */
export function pathsIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" }).sort();
}
