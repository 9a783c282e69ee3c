import { describe, expect, test } from "vitest";
import type { ExecutionContext, HeddleError } from "../../src/kernel/index.js";
import { flow, unhandledRejections, World } from "../support/world.js";

const RESIDENT = [10_000, 0];

describe.each(RESIDENT)("C-REP-05: parking is not an exception, resident: %i", (maxResident) => {
  test("neither catch nor finally runs until the gate resolves, and nothing is recorded as a failure", async () => {
    const world = World.memory();
    const oops = world.step("oops", () => "oops");
    const cleanup = world.step("cleanup", () => "clean");
    const trail: string[] = [];
    const f = flow("f", async (ctx) => {
      try {
        trail.push("waits");
        return await ctx.suspend({ on: "x" });
      } catch {
        trail.push("catch");
        return await ctx.run(oops, 1);
      } finally {
        trail.push("finally");
        await ctx.run(cleanup, 1);
      }
    });
    let process = await world.open([f], { maxResident });
    await world.until((await process.start(f, null)).waitForSuspend());
    await world.pass(86_400_000);
    process = await world.restart([f], { maxResident });
    await world.pass(86_400_000);
    expect(await world.types()).toEqual(["EXECUTION_STARTED", "EXECUTION_SUSPENDED"]);
    expect(new Set(trail)).toEqual(new Set(["waits"]));
    expect(process.warnings).toEqual([]);

    const state = await process.finish("x", { x: "answer" });
    expect(state.variables["_output"]).toBe("answer");
    expect([world.ran("oops"), world.ran("cleanup")]).toEqual([0, 1]);
    expect(trail).not.toContain("catch");
  });

  test("allSettled does not see it", async () => {
    const world = World.memory();
    let settled: unknown;
    const f = flow("f", async (ctx) => {
      const results = await Promise.allSettled([ctx.suspend({ on: "x" }), ctx.decide("d", () => 1)]);
      settled = results;
      return results.map(({ status }) => status);
    });
    const process = await world.open([f], { maxResident });
    await world.until((await process.start(f, null)).waitForSuspend());
    await world.pass(1_000);
    expect(settled).toBeUndefined();
    expect((await process.finish("x", { x: 1 })).variables["_output"]).toEqual(["fulfilled", "fulfilled"]);
  });

  test("a forced end leaves the flow where it is, too", async () => {
    const world = World.memory();
    const trail: string[] = [];
    const f = flow("f", async (ctx) => {
      try {
        await ctx.suspend({ on: "x" });
      } finally {
        trail.push("finally");
      }
    });
    const process = await world.open([f], { maxResident });
    await world.until((await process.start(f, null)).waitForSuspend());
    await world.until(process.runtime.cancel("x", "enough", { force: true }));
    await world.pass(1_000);
    expect(trail).toEqual([]);
    expect(await world.types()).toEqual(["EXECUTION_STARTED", "EXECUTION_SUSPENDED", "EXECUTION_CANCELLED"]);
  });
});

describe.each(RESIDENT)("C-REP-05: ctx in the body of a step, resident: %i", (maxResident) => {
  const USES: readonly [string, (ctx: ExecutionContext) => unknown][] = [
    ["sleep", (ctx) => ctx.sleep(10)],
    ["suspend", (ctx) => ctx.suspend({ on: "x" })],
    ["decide", (ctx) => ctx.decide("d", () => 1)],
    ["parallel", (ctx) => ctx.parallel([() => ctx.sleep(1)])],
    ["emit", (ctx) => ctx.emit("e", 1)],
    ["stream", (ctx) => ctx.stream("e", "text")],
    ["ui", (ctx) => ctx.ui.set("k", 1)],
    ["now", (ctx) => ctx.now()],
    ["random", (ctx) => ctx.random()],
    ["uuid", (ctx) => ctx.uuid()],
  ];
  const MOMENTS: readonly [string, (world: World) => Promise<void> | void][] = [
    ["at once", () => {}],
    ["after a microtask", () => Promise.resolve()],
    ["after a while", (world) => world.delay(5)],
  ];

  test.each(
    USES.flatMap(([name, use]) => MOMENTS.map(([moment, wait]) => [name, moment, use, wait] as const)),
  )(
    "%s, %s: refused with a typed error, neither hanging nor run again",
    async (_name, _moment, use, wait) => {
      const world = World.memory();
      const f = flow("f", async (ctx) => {
        const outer = world.step(
          "outer",
          (): unknown => {
            const waited = wait(world);
            return waited ? waited.then(() => use(ctx)) : use(ctx);
          },
          { retry: { maxAttempts: 3 } },
        );
        const sibling = world.step("sibling", async () => {
          await world.delay(20);
          return "sibling";
        });
        return Promise.all([
          ctx.run(outer, 1).catch((error: HeddleError) => `${error.code}: ${error.message}`),
          ctx.run(sibling, 1),
        ]);
      });
      const process = await world.open([f], { maxResident });
      await process.start(f, null);
      const [error, sibling] = (await process.finish("x")).variables["_output"] as [string, string];
      expect(error).toContain(
        "CONTEXT_MISUSED: ctx of execution x was used outside its flow's turn. Inside a step's body use the second argument of the handler",
      );
      expect(sibling).toBe("sibling");
      expect([world.ran("outer"), world.ran("sibling")]).toEqual([1, 1]);
      expect(await world.types()).not.toContain("STEP_RETRIED");
    },
  );

  test("a step inside a step does not run", async () => {
    const world = World.memory();
    const inner = world.step("inner", () => 1);
    const f = flow("f", async (ctx) =>
      ctx
        .run(
          world.step("outer", () => ctx.run(inner, 1)),
          1,
        )
        .catch((error: HeddleError) => error.code),
    );
    const process = await world.open([f], { maxResident });
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("CONTEXT_MISUSED");
    expect(world.ran("inner")).toBe(0);
  });

  test("a decider has no context either", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) =>
      ctx.decide("d", () => ctx.now()).catch((error: HeddleError) => error.code),
    );
    const process = await world.open([f], { maxResident });
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("CONTEXT_MISUSED");
  });

  test("an execution that has ended leaves no step's body hanging on its context", async () => {
    const world = World.memory();
    let outcome: unknown;
    const f = flow("f", async (ctx) => {
      const straggler = world.step("straggler", async () => {
        await world.delay(50);
        outcome = await ctx.sleep(1).catch((error: HeddleError) => error.code);
      });
      void ctx.run(straggler, 1);
      await ctx.sleep(10);
      return "ended";
    });
    const process = await world.open([f], { maxResident });
    await process.start(f, null);
    await process.finish("x");
    await world.pass(100);
    expect(outcome).toBe("CONTEXT_MISUSED");
  });
});

describe("foreign awaits", () => {
  const never = new Promise<never>(() => {});

  test.each(RESIDENT)(
    "a flow that waits for nothing the log knows fails with FOREIGN_AWAIT instead of hanging, resident: %i",
    async (maxResident) => {
      const world = World.memory();
      const step = world.step("s", () => 1);
      const f = flow("f", async (ctx) => {
        await ctx.run(step, 1);
        await world.delay(10);
        return "late";
      });
      const process = await world.open([f], { maxResident });
      await process.start(f, null);
      const state = await process.finish("x");
      expect(state).toMatchObject({ status: "failed", error: { code: "FOREIGN_AWAIT" } });
      expect((state.error as Error).message).toContain(
        "Move I/O and timers of the flow's body into a step, ctx.sleep or ctx.decide.",
      );
      await world.pass(100);
      expect((await world.types()).at(-1)).toBe("EXECUTION_FAILED");
    },
  );

  test("a promise that settles by itself is no foreign await, however long the chain", async () => {
    const world = World.memory();
    const f = flow("f", async () => {
      for (let i = 0; i < 10_000; i++) await null;
      return "done";
    });
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("done");
  });

  test("a call that something foreign woke is refused: it would not come at the same place on a replay", async () => {
    const rejections = unhandledRejections();
    const world = World.memory();
    const step = world.step("s", () => 1);
    const f = flow("f", async (ctx) => {
      const gate = ctx.suspend({ on: "x" });
      await world.delay(10);
      await ctx.run(step, 1);
      return gate;
    });
    const process = await world.open([f]);
    await process.start(f, null);
    const state = await process.finish("x");
    expect(state).toMatchObject({ status: "failed", error: { code: "CONTEXT_MISUSED" } });
    expect(world.ran("s")).toBe(0);
    expect(rejections).toEqual([]);
  });

  test("a flow that something foreign made return fails at once: nobody is left waiting", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => Promise.race([ctx.suspend({ on: "x" }), world.delay(10), never]));
    const process = await world.open([f]);
    const handle = await process.start(f, null);
    const state = await world.until(handle.waitForCompletion());
    expect(state).toMatchObject({ status: "failed", error: { code: "FOREIGN_AWAIT" } });
    expect(await process.store.timers()).toEqual([]);
  });

  test("a flow that something foreign moved after it was parked and dropped does nothing", async () => {
    const rejections = unhandledRejections();
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      const gate = ctx.suspend({ on: "x" });
      void world
        .delay(10)
        .then(() => ctx.emit("stray", 1))
        .catch(() => {});
      return gate;
    });
    const process = await world.open([f], { maxResident: 0 });
    await world.until((await process.start(f, null)).waitForSuspend());
    await world.pass(100);
    expect(await world.types()).toEqual(["EXECUTION_STARTED", "EXECUTION_SUSPENDED"]);
    expect(await process.finish("x", { x: 1 })).toMatchObject({ status: "completed" });
    expect(rejections).toEqual([]);
  });

  test("a runner that is not async may throw or return", async () => {
    const world = World.memory();
    const throws = flow("throws", () => {
      throw new RangeError("at once");
    });
    const returns = flow("returns", (() => 7) as unknown as () => Promise<number>);
    const process = await world.open([throws, returns]);
    await process.start(throws, null, "x");
    await process.start(returns, null, "y");
    expect(await process.finish("x")).toMatchObject({
      status: "failed",
      error: { name: "RangeError", message: "at once" },
    });
    expect(await process.finish("y")).toMatchObject({ status: "completed", variables: { _output: 7 } });
  });
});
