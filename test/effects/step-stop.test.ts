// Goal: a task's own signal ends that step and nothing else, wherever the step stands: not begun, running, between two attempts.
// Method: flows in a world of simulated time; each step has a signal the test holds, and most effects do as they are told.

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fail } from "../../src/effects/index.js";
import type { StepHandlerContext, TypedFailure } from "../../src/kernel/index.js";
import { codeOf, flow, untilAborted, World } from "../support/world.js";

const caught = (error: unknown): string => codeOf(error);

/** What a model does that is stopped while it talks. */
const failsOnAbort = (_: unknown, { signal }: StepHandlerContext) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      try {
        fail("interrupted", { content: "half a" });
      } catch (failure) {
        reject(failure);
      }
    });
  });

describe("a task's signal", () => {
  test("aborts the signal of its own attempt, which fails with STEP_STOPPED; the flow and what runs beside it go on", async () => {
    const world = World.memory();
    const stop = new AbortController();
    const stopped = world.step("stopped", (_, { signal }) => untilAborted(signal), { signal: stop.signal });
    const beside = world.step("beside", (_, { signal }) => world.delay(10).then(() => signal.aborted));
    const f = flow("f", (ctx) => Promise.all([ctx.run(stopped, 1).catch(caught), ctx.run(beside, 1)]));
    const process = await world.open([f]);
    const handle = await process.start(f, null);
    await world.when(() => world.ran("stopped") === 1);
    stop.abort(new Error("barge in"));
    expect(await world.until(handle.result())).toEqual(["STEP_STOPPED", false]);
    const { frames } = await process.runtime.loadState("x");
    expect(frames["stopped"]?.error).toMatchObject({
      code: "STEP_STOPPED",
      details: { stepId: "stopped", attempt: 1 },
      cause: { message: "barge in" },
    });
  });

  test("counts before the attempt has begun: nothing runs", async () => {
    const world = World.memory();
    const step = world.step("s", () => "ran", { signal: AbortSignal.abort() });
    const f = flow("f", (ctx) => ctx.run(step, 1).catch(caught));
    const process = await world.open([f]);
    expect(await world.until((await process.start(f, null)).result())).toBe("STEP_STOPPED");
    expect(world.ran("s")).toBe(0);
  });

  test("leaves the outcome to the effect: a failure on a channel, a result, another error without a retry", async () => {
    const world = World.memory();
    const stop = new AbortController();
    const { signal } = stop;
    const typed = world.step("typed", failsOnAbort, {
      signal,
      errors: { interrupted: z.object({ content: z.string() }) },
    });
    const done = world.step("done", (_, ctx) => untilAborted(ctx.signal).catch(() => "all the same"), {
      signal,
    });
    const breaks = world.step(
      "breaks",
      (_, ctx) =>
        untilAborted(ctx.signal).catch(() => {
          throw new RangeError("socket closed");
        }),
      { signal, retry: { maxAttempts: 9 } },
    );
    const f = flow("f", (ctx) =>
      Promise.all([
        ctx.run(typed, 1).catch(({ channel, payload }: TypedFailure) => [channel, payload]),
        ctx.run(done, 1),
        ctx.run(breaks, 1).catch(({ name }: Error) => name),
      ]),
    );
    const process = await world.open([f]);
    const handle = await process.start(f, null);
    await world.when(() => world.ran("breaks") === 1);
    stop.abort();
    expect(await world.until(handle.result())).toEqual([
      ["interrupted", { content: "half a" }],
      "all the same",
      "RangeError",
    ]);
    expect(await world.types()).not.toContain("STEP_RETRIED");
  });

  test("waits five seconds for what the effect comes to; what it comes to later is recorded as late", async () => {
    const world = World.memory();
    const stop = new AbortController();
    const deaf = world.step("deaf", () => world.delay(60_000), { signal: stop.signal });
    const f = flow("f", async (ctx) => {
      const code = await ctx.run(deaf, 1).catch(caught);
      await ctx.sleep(100_000);
      return code;
    });
    const process = await world.open([f]);
    const handle = await process.start(f, null);
    await world.when(() => world.ran("deaf") === 1);
    stop.abort();
    await world.pass(4_999);
    expect(await world.types()).not.toContain("STEP_FAILED");
    await world.pass(2);
    expect((await world.types()).slice(-2)).toEqual(["STEP_FAILED", "EXECUTION_SUSPENDED"]);
    expect(await world.until(handle.result())).toBe("STEP_STOPPED");
    const { frames } = await process.runtime.loadState("x");
    expect(frames["deaf"]?.late).toMatchObject([{ kind: "completed", attempt: 1 }]);
  });

  test("one that may not be repeated and goes on regardless is in doubt", async () => {
    const world = World.memory();
    const stop = new AbortController();
    const deaf = world.step("deaf", () => new Promise(() => {}), {
      signal: stop.signal,
      idempotent: false,
    });
    const f = flow("f", (ctx) => ctx.run(deaf, 1));
    const process = await world.open([f]);
    const handle = await process.start(f, null);
    await world.when(() => world.ran("deaf") === 1);
    stop.abort();
    const { frames } = await world.until(handle.waitForSuspend());
    expect(frames["deaf"]).toMatchObject({ status: "inDoubt" });
  });

  test("ends the wait for the next attempt at once, also after a restart, and leaves no timer", async () => {
    const world = World.memory();
    let stop = new AbortController();
    const f = flow("f", (ctx) => {
      const flaky = world.step(
        "flaky",
        () => {
          throw new Error("no");
        },
        { signal: stop.signal, retry: { maxAttempts: 9, baseDelayMs: 600_000, maxDelayMs: 600_000 } },
      );
      return ctx.run(flaky, 1).catch(caught);
    });
    const { clock } = world;
    const began = clock.now;
    await (await world.open([f])).start(f, null);
    await world.settle();
    expect(await world.types()).toContain("STEP_RETRIED");
    stop = new AbortController(); // the program does not carry it over, and hands over a new one
    const process = await world.restart([f]);
    await world.settle();
    stop.abort();
    await world.settle();
    expect(await world.types()).toEqual([
      "EXECUTION_STARTED",
      "STEP_STARTED",
      "STEP_RETRIED",
      "STEP_FAILED",
      "EXECUTION_COMPLETED",
    ]);
    expect((await process.runtime.loadState("x")).variables["flaky"]).toBeUndefined();
    expect([clock.now, world.ran("flaky")]).toEqual([began, 1]);
    expect(await process.store.timers()).toEqual([]);
  });

  test("a cancellation outranks it, and a signal that outlives many steps holds nothing of them", async () => {
    const world = World.memory();
    const stop = new AbortController();
    const steps = Array.from({ length: 40 }, (_, n) =>
      world.step(`quick#${n}`, () => n, { signal: stop.signal, timeoutMs: 1_000 }),
    );
    const last = world.step("last", (_, { signal }) => untilAborted(signal), { signal: stop.signal });
    const f = flow("f", async (ctx) => {
      for (const step of steps) await ctx.run(step, 1);
      await ctx.run(last, 1);
    });
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    globalThis.process.on("warning", note);
    const process = await world.open([f]);
    await process.start(f, null);
    await world.when(() => world.ran("last") === 1);
    await world.until(process.runtime.cancel("x", "enough"));
    stop.abort();
    await world.settle();
    globalThis.process.off("warning", note);
    expect(warnings).toEqual([]);
    expect((await world.types()).slice(-2)).toEqual(["CANCEL_REQUESTED", "EXECUTION_CANCELLED"]);
  });
});
