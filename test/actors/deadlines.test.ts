// Deadlines of executions and steps, and what a time limit means where an effect may not run twice.

import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { EffectMiddleware } from "../../src/effects/index.js";
import { flow$, step$, tool$ } from "../../src/kernel/index.js";
import { codeOf, flow, untilAborted, World } from "../support/world.js";

const waiting = flow("waiting", async (ctx) => ctx.suspend({ on: "never" }), { deadlineMs: 5_000 });

describe("the deadline of an execution", () => {
  test("cancels it when it is due, names itself in reason and code, and its flow is told", async () => {
    const world = World.memory();
    let heard: unknown;
    const f = flow("f", async (ctx) => {
      try {
        await ctx.suspend({ on: "never" });
      } catch (error) {
        heard = error;
        throw error;
      }
    });
    const process = await world.open([f]);
    const handle = await world.until(process.runtime.start(f, null, { executionId: "x", deadlineMs: 1_500 }));
    const state = await world.until(handle.waitForCompletion());
    expect(state).toMatchObject({
      status: "cancelled",
      code: "DEADLINE_EXCEEDED",
      reason: expect.stringMatching(/deadline.*1500 ms/) as string,
      deadlineAt: state.startedAt + 1_500,
      updatedAt: state.startedAt + 1_500,
    });
    expect(heard).toMatchObject({ code: "CANCELLED", details: { code: "DEADLINE_EXCEEDED" } });
  });

  test("is the flow's own unless start says otherwise", async () => {
    const world = World.memory();
    const process = await world.open([waiting]);
    const [own, said] = await world.until(
      Promise.all([
        process.runtime.start(waiting, null, { executionId: "own" }),
        process.runtime.start(waiting, null, { executionId: "said", deadlineMs: 70 }),
      ]),
    );
    const ended = await world.until(Promise.all([own.waitForCompletion(), said.waitForCompletion()]));
    expect(ended.map(({ updatedAt, startedAt }) => updatedAt - startedAt)).toEqual([5_000, 70]);
  });

  test.each([
    ["before it is due", 1_000, 5_000],
    ["long after it was due", 60_000, 60_000],
  ])("a restart %s does not begin it anew", async (_, downMs, endedMs) => {
    const world = World.memory();
    const first = await world.open([waiting]);
    await first.start(waiting, null);
    await first.kill();
    await world.pass(downMs);
    const process = await world.open([waiting]);
    const state = await world.until(process.runtime.handle("x").waitForCompletion());
    expect(state).toMatchObject({ status: "cancelled", code: "DEADLINE_EXCEEDED" });
    expect(state.updatedAt - state.startedAt).toBe(endedMs);
  });

  test("past due at a restart, no attempt is made again", async () => {
    const world = World.memory();
    const slow = world.step("slow", () => new Promise(() => {}));
    const f = flow("f", (ctx) => ctx.run(slow, 1), { deadlineMs: 1_000 });
    const first = await world.open([f]);
    await first.start(f, null);
    await world.when(() => world.ran("slow") === 1);
    await first.kill();
    await world.pass(2_000);
    const process = await world.open([f]);
    expect(await process.finish("x")).toMatchObject({ status: "cancelled", code: "DEADLINE_EXCEEDED" });
    expect(world.ran("slow")).toBe(1);
  });

  test("leaves no timer when the execution ends before, and does nothing when a cancel came first", async () => {
    const world = World.memory();
    const f = flow("f", async () => 1, { deadlineMs: 1_000 });
    const slowly = flow(
      "slowly",
      async (ctx) => {
        await ctx.suspend({ on: "never" }).catch(() => {});
        await ctx.shield((shielded) => shielded.sleep(5_000));
      },
      { deadlineMs: 1_000 },
    );
    const process = await world.open([f, slowly]);
    await process.start(f, null, "done");
    await process.finish("done");
    await process.start(slowly, null, "slowly");
    await world.until(process.runtime.cancel("slowly", "enough"));
    const state = await process.finish("slowly");
    expect(state).toMatchObject({ status: "cancelled", reason: "enough" });
    expect(state).not.toHaveProperty("code");
    expect(await process.store.timers()).toEqual([]);
  });

  test("fires once the flow of an execution is back that was set aside meanwhile", async () => {
    const world = World.memory();
    const first = await world.open([waiting]);
    await first.start(waiting, null);
    const without = await world.restart([]);
    await world.pass(10_000);
    expect((await without.runtime.list())[0]!.status).toBe("setAside");
    const process = await world.restart([waiting]);
    expect(await process.finish("x")).toMatchObject({ status: "cancelled", code: "DEADLINE_EXCEEDED" });
  });
});

describe.each([
  ["of an execution", {}, { deadlineMs: 1_000 }, "cancelled"],
  ["of a step", { deadlineMs: 1_000 }, {}, "completed"],
] as const)("a deadline %s", (_, ofStep, ofFlow, status) => {
  test("that passed while it was set aside: no attempt is made again", async () => {
    const world = World.memory();
    const slow = world.step("slow", () => new Promise(() => {}), ofStep);
    const f = flow("f", (ctx) => ctx.run(slow, 7).catch(codeOf), ofFlow);
    const first = await world.open([f]);
    await first.start(f, null);
    await world.settle();
    await world.restart([]);
    await world.pass(20_000);
    const process = await world.restart([f]);
    expect(await world.until(process.runtime.handle("x").settled())).toMatchObject({ status });
    expect(world.ran("slow")).toBe(1);
  });
});

describe("the deadline of a step", () => {
  test("counts all attempts and the waits between them, and is not retried", async () => {
    const world = World.memory();
    const flaky = world.step(
      "flaky",
      () => {
        throw new Error("not yet");
      },
      { retry: { maxAttempts: 100, baseDelayMs: 300, factor: 1 }, deadlineMs: 1_000 },
    );
    const f = flow("f", (ctx) => ctx.run(flaky, 1).catch(codeOf));
    const process = await world.open([f]);
    await process.start(f, null);
    const state = await process.finish("x");
    expect(state.variables["_output"]).toBe("EFFECT_DEADLINE_EXCEEDED");
    expect(state.updatedAt - state.startedAt).toBe(1_000);
    expect(world.ran("flaky")).toBe(4);
    expect(await process.store.timers()).toEqual([]);
  });

  test("aborts the attempt under way, whose outcome is late", async () => {
    const world = World.memory();
    let reason: unknown;
    const deaf = world.step(
      "deaf",
      async (_input, { signal }) => {
        const note = (): void => {
          reason = signal.reason as unknown;
        };
        signal.addEventListener("abort", note, { once: true });
        await world.delay(2_000);
        return "too late";
      },
      { deadlineMs: 1_000 },
    );
    const f = flow("f", (ctx) => ctx.run(deaf, 1).catch(codeOf));
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("EFFECT_DEADLINE_EXCEEDED");
    expect(reason).toMatchObject({ code: "EFFECT_DEADLINE_EXCEEDED" });
    await world.pass(5_000);
    expect((await process.runtime.loadState("x")).frames["deaf"]).toMatchObject({
      status: "failed",
      late: [{ attempt: 1, kind: "completed" }],
    });
  });

  test("is durable: a restart goes on counting, and past due no attempt is made", async () => {
    const world = World.memory();
    const slow = world.step("slow", () => new Promise(() => {}), { deadlineMs: 1_000 });
    const f = flow("f", (ctx) => ctx.run(slow, 1).catch(codeOf));
    const first = await world.open([f]);
    await first.start(f, null);
    await world.pass(100);
    const second = await world.restart([f]);
    await world.when(() => world.ran("slow") === 2);
    await second.kill();
    await world.pass(2_000);
    const process = await world.open([f]);
    expect((await process.finish("x")).variables["_output"]).toBe("EFFECT_DEADLINE_EXCEEDED");
    expect(world.ran("slow")).toBe(2);
  });

  test("the recorded one stands, whatever the step says by now", async () => {
    const world = World.memory();
    const make = (options: { deadlineMs?: number }) =>
      flow("f", (ctx) =>
        ctx
          .run(
            world.step("slow", () => new Promise(() => {}), options),
            1,
          )
          .catch(codeOf),
      );
    const before = make({ deadlineMs: 1_000 });
    const first = await world.open([before]);
    await first.start(before, null);
    const process = await world.restart([make({})]);
    const state = await process.finish("x");
    expect(state.variables["_output"]).toBe("EFFECT_DEADLINE_EXCEEDED");
  });

  test("leaves no timer when the step is done before", async () => {
    const world = World.memory();
    const quick = world.step("quick", () => 1, { deadlineMs: 1_000 });
    const f = flow("f", async (ctx) => {
      await ctx.run(quick, 1);
      return ctx.suspend({ on: "gate" });
    });
    const process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    expect(await process.store.timers()).toEqual([]);
  });
});

describe("an effect that may not run twice", () => {
  const LIMITS = [
    ["time limit", { timeoutMs: 1_000, retry: { maxAttempts: 5 } }],
    ["deadline", { deadlineMs: 1_000, retry: { maxAttempts: 5 } }],
  ] as const;

  test.each(LIMITS)(
    "over its %s is in doubt instead of tried again, and what it comes to is shown",
    async (_, limit) => {
      const world = World.memory();
      const pay = world.step<unknown, unknown>(
        "pay",
        async () => {
          await world.delay(3_000);
          return "receipt";
        },
        { idempotent: false, ...limit },
      );
      const f = flow("f", (ctx) => ctx.run(pay, 7));
      const process = await world.open([f]);
      const state = await world.until((await process.start(f, null)).waitForSuspend());
      expect(state.frames["pay"]).toMatchObject({ status: "inDoubt", attempts: 1 });
      await world.pass(10_000);
      const { frames } = await process.runtime.loadState("x");
      expect(frames["pay"]).toMatchObject({ status: "inDoubt", late: [{ attempt: 1, kind: "completed" }] });
      expect(world.ran("pay")).toBe(1);
      await world.until(process.runtime.resolveInDoubt("x", "pay", { outcome: "found it" }));
      expect((await process.finish("x")).variables["_output"]).toBe("found it");
      expect(await process.store.timers()).toEqual([]);
    },
  );

  test("is in doubt too when its deadline passes while the process is down", async () => {
    const world = World.memory();
    const pay = world.step("pay", () => new Promise(() => {}), { idempotent: false, deadlineMs: 1_000 });
    const f = flow("f", (ctx) => ctx.run(pay, 7));
    const first = await world.open([f]);
    await first.start(f, null);
    await world.when(() => world.ran("pay") === 1);
    await first.kill();
    await world.pass(5_000);
    const process = await world.open([f]);
    const state = await world.until(process.runtime.handle("x").waitForSuspend());
    expect(state.frames["pay"]!.status).toBe("inDoubt");
    expect((await world.types()).filter((type) => type === "EFFECT_INDOUBT")).toHaveLength(1);
  });

  /** A payment that is refused, and would be tried again after its deadline. */
  function refused(world: World) {
    const pay = world.step(
      "pay",
      () => {
        throw new Error("refused");
      },
      { idempotent: false, deadlineMs: 1_000, retry: { maxAttempts: 9, baseDelayMs: 5_000 } },
    );
    return flow("f", (ctx) => ctx.run(pay, 7).catch(codeOf));
  }

  test("waiting for its next attempt at the deadline it fails: that it did nothing is known", async () => {
    const world = World.memory();
    const f = refused(world);
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("EFFECT_DEADLINE_EXCEEDED");
  });

  test("so it does when both, deadline and next attempt, came due while the process was down", async () => {
    const world = World.memory();
    const f = refused(world);
    const first = await world.open([f]);
    await first.start(f, null);
    await world.settle();
    await first.kill();
    await world.pass(20_000);
    const process = await world.open([f]);
    const state = await world.until(process.runtime.handle("x").settled());
    expect(state.variables["_output"]).toBe("EFFECT_DEADLINE_EXCEEDED");
    expect(world.ran("pay")).toBe(1);
  });

  test("held by a middleware at the deadline it fails, and does not begin after it", async () => {
    const world = World.memory();
    const pay = world.step("pay", () => "paid", { idempotent: false, deadlineMs: 1_000 });
    const f = flow("f", (ctx) => ctx.run(pay, 7).catch(codeOf));
    const holding: EffectMiddleware = async (_ctx, _input, next) => {
      await world.delay(5_000);
      return next();
    };
    const process = await world.open([f], { middleware: [holding] });
    await process.start(f, null);
    const state = await world.until(process.runtime.handle("x").settled());
    expect(state.variables["_output"]).toBe("EFFECT_DEADLINE_EXCEEDED");
    await world.pass(10_000);
    expect(world.ran("pay")).toBe(0);
    expect((await world.types()).at(-1)).toBe("EXECUTION_COMPLETED");
  });
});

describe("a time limit of an attempt", () => {
  test("each attempt that settles after it is late, once", async () => {
    const world = World.memory();
    const slow = world.step<unknown, unknown>(
      "slow",
      async (_input, { attempt }) => {
        await world.delay(100);
        if (attempt === 1) throw new Error("in vain");
        return attempt;
      },
      { timeoutMs: 10, retry: { maxAttempts: 2, baseDelayMs: 1 } },
    );
    const f = flow("f", (ctx) => ctx.run(slow, 1).catch(codeOf));
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("EFFECT_TIMED_OUT");
    await world.pass(10_000);
    expect((await process.runtime.loadState("x")).frames["slow"]!.late).toMatchObject([
      { attempt: 1, kind: "failed", error: { message: "in vain" } },
      { attempt: 2, kind: "completed" },
    ]);
    expect(await process.store.timers()).toEqual([]);
  });

  test("an attempt that stops when it is told to is not late", async () => {
    const world = World.memory();
    const obedient = world.step("obedient", (_input, { signal }) => untilAborted(signal), { timeoutMs: 10 });
    const f = flow("f", (ctx) => ctx.run(obedient, 1).catch(codeOf));
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("EFFECT_TIMED_OUT");
    expect(await world.types()).not.toContain("OUTCOME_LATE");
  });
});

describe("bad input", () => {
  const BAD = [0, -1, Number.NaN, Infinity, 1e300, "5" as never];

  test.each(BAD)("a deadline of %s is refused where it enters, and nothing begins", async (deadlineMs) => {
    const world = World.memory();
    const any = z.unknown();
    const schemas = { inputSchema: any, outputSchema: any };
    const makers = [
      () => step$({ id: "s", ...schemas, deadlineMs }),
      () => tool$({ id: "s", name: "s", description: "As its name says", ...schemas, deadlineMs }),
      () => flow$({ id: "f", version: "1", ...schemas, deadlineMs }),
    ];
    for (const make of makers)
      expect(make).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }) as Error);
    const f = flow("f", async () => 1);
    const process = await world.open([f]);
    await expect(world.until(process.runtime.start(f, null, { deadlineMs }))).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("deadlineMs") as string,
    });
    expect(await process.runtime.list()).toEqual([]);
  });
});
