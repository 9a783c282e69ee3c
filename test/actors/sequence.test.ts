import { describe, expect, test } from "vitest";
import { surface } from "../../src/kernel/index.js";
import { flow, World } from "../support/world.js";

describe("sequence numbers", () => {
  test.each([0, 1, 2, 10, 100, 500])(
    "a flow of %i steps in sequence writes 2N + 2 events, zero-based and dense",
    async (count) => {
      const world = World.memory();
      const f = flow("f", async (ctx) => {
        for (let i = 0; i < count; i++)
          await ctx.run(
            world.step(`s#${i}`, () => i),
            i,
          );
        return count;
      });
      const process = await world.open([f]);
      await process.start(f, null);
      const state = await process.finish("x");
      const events = await world.events();
      expect(events.length).toBe(2 * count + 2);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
      expect(state.sequence).toBe(2 * count + 1);
      expect(events.every(({ timestamp }) => timestamp === world.clock.now)).toBe(true);
    },
  );

  test("set, step, merge, set, step, merge, set, suspend suspends at sequence 10", async () => {
    const world = World.memory();
    const [one, two] = [world.step("one", () => 1), world.step("two", () => 2)];
    const f = flow("f", async (ctx) => {
      const ui = surface(ctx);
      ui.set("a", {});
      await ctx.run(one, 1);
      ui.merge("a", { one: 1 });
      ui.set("b", {});
      await ctx.run(two, 1);
      ui.merge("b", { two: 2 });
      ui.set("c", true);
      await ctx.suspend({ on: "approve" });
    });
    const process = await world.open([f]);
    const handle = await process.start(f, null);
    const state = await world.until(handle.waitForSuspend());
    expect(state).toMatchObject({ status: "suspended", sequence: 10 });
    expect(await world.types()).toEqual([
      "EXECUTION_STARTED",
      "SURFACE_PATCH",
      "STEP_STARTED",
      "STEP_COMPLETED",
      "SURFACE_PATCH",
      "SURFACE_PATCH",
      "STEP_STARTED",
      "STEP_COMPLETED",
      "SURFACE_PATCH",
      "SURFACE_PATCH",
      "EXECUTION_SUSPENDED",
    ]);
    await world.until(process.runtime.resume("x", { eventType: "approve", payload: { ok: 1 } }));
    expect((await world.events()).slice(11)).toMatchObject([
      { sequence: 11, type: "approve", payload: { ok: 1 } },
      { sequence: 12, type: "EXECUTION_RESUMED", payload: { gateId: "approve#0", reason: "event" } },
      { sequence: 13, type: "EXECUTION_COMPLETED" },
    ]);
  });

  test("two steps issued at once start before either ends, and stay dense", async () => {
    const world = World.memory();
    const steps = [0, 1, 2].map((i) => world.step(`s${i}`, () => i));
    const f = flow("f", async (ctx) => Promise.all(steps.map((step) => ctx.run(step, 1))));
    const process = await world.open([f]);
    await process.start(f, null);
    await process.finish("x");
    expect(await world.types()).toEqual([
      "EXECUTION_STARTED",
      ...Array<string>(3).fill("STEP_STARTED"),
      ...Array<string>(3).fill("STEP_COMPLETED"),
      "EXECUTION_COMPLETED",
    ]);
  });

  test("a log longer than one pass replays is replayed all the same", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      let sum = 0;
      for (let i = 0; i < 700; i++)
        sum += await ctx.run(
          world.step<number, number>(`s#${i}`, (n) => n),
          i,
        );
      await ctx.suspend({ on: "gate" });
      return sum;
    });
    let process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    process = await world.restart([f]);
    expect((await process.finish("x", { gate: 1 })).variables["_output"]).toBe((699 * 700) / 2);
    expect(new Set(world.runs.values())).toEqual(new Set([1]));
  });

  test("executions of one pass share a commit", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) =>
      ctx.run(
        world.step("s", () => 1),
        1,
      ),
    );
    const process = await world.open([f]);
    const ids = Array.from({ length: 50 }, (_, i) => `x${i}`);
    await world.until(Promise.all(ids.map((executionId) => process.runtime.start(f, null, { executionId }))));
    await Promise.all(ids.map((id) => process.finish(id)));
    expect(process.store.largestCommit).toBe(50);
    expect(process.store.commits).toBeLessThanOrEqual(4);
  });
});
