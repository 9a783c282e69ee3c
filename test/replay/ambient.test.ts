// Goal: time and chance enter a flow through its log, and whoever reads them past it is told which call to use.

import { describe, expect, test } from "vitest";
import type { ExecutionContext, RegisteredFlow } from "../../src/kernel/index.js";
import { flow, type Process, World } from "../support/world.js";

/** Opens the log once more and makes the execution come into memory, which replays it. */
async function replay(world: World, f: RegisteredFlow): Promise<Process> {
  const process = await world.restart([f]);
  await world.until(process.runtime.resume("x", { eventType: "nothing here" })).catch(() => {});
  return process;
}

const HOUR = 3_600_000;

describe("C-REP-04: the clock", () => {
  test("ctx.sleep(deadline - now) keeps its recorded due time over five replays", async () => {
    const world = World.memory();
    const deadline = world.clock.now + 10 * HOUR;
    const f = flow("f", async (ctx) => {
      await ctx.sleep(deadline - world.clock.now); // another number on every replay
      await ctx.suspend({ on: "gate", timeout: deadline - world.clock.now + HOUR });
      return ctx.now();
    });
    const started = await world.open([f]);
    await started.start(f, null);
    for (let i = 0; i < 5; i++) {
      await world.pass(HOUR);
      const process = await replay(world, f);
      expect(process.warnings).toEqual([]);
      expect((await process.store.timers()).map(({ wakeAt }) => wakeAt)).toEqual([deadline]);
    }
    await world.pass(deadline - world.clock.now - 1);
    expect(await world.types()).toEqual(["EXECUTION_STARTED", "EXECUTION_SUSPENDED"]);
    await world.pass(1);
    expect((await world.types()).slice(2)).toEqual([
      "TIMER_FIRED",
      "EXECUTION_RESUMED",
      "EXECUTION_SUSPENDED",
    ]);
    const process = await replay(world, f);
    await world.pass(HOUR - 1);
    expect((await process.finish("x", { gate: 1 })).variables["_output"]).toBe(deadline + HOUR - 1);
  });

  test("a due time that has passed by the time of a replay is due at once, not refused", async () => {
    const world = World.memory();
    const deadline = world.clock.now + HOUR;
    const f = flow("f", async (ctx) => ctx.sleep(deadline - world.clock.now));
    const first = await world.open([f]);
    await first.start(f, null);
    await first.kill();
    world.clock.jump(5 * HOUR);
    const process = await world.open([f]);
    expect(await process.finish("x")).toMatchObject({ status: "completed" });
    expect((await world.events()).at(-1)?.timestamp).toBe(deadline + 4 * HOUR);
  });
});

describe("C-REP-04: what ctx draws is drawn once", () => {
  test.each([10_000, 0])("now, random and uuid repeat on every replay, resident: %i", async (maxResident) => {
    const world = World.memory();
    const seen: string[] = [];
    const f = flow("f", async (ctx) => {
      const draw = () => [ctx.now(), ctx.random(), ctx.uuid()];
      const first = draw();
      await ctx.sleep(1_000);
      const drawn = [...first, ...draw()];
      seen.push(JSON.stringify(drawn));
      await ctx.suspend({ on: "gate" });
      return drawn;
    });
    let process = await world.open([f], { maxResident });
    await world.until((await process.start(f, null)).waitForSuspend());
    for (let i = 0; i < 5; i++) process = await replay(world, f);
    const state = await process.finish("x", { gate: 1 });
    const [now, random, uuid, later] = state.variables["_output"] as [number, number, string, number];
    expect(new Set(seen).size).toBe(1);
    expect(seen.length).toBeGreaterThanOrEqual(6);
    expect(later - now).toBe(1_000);
    expect(random >= 0 && random < 1).toBe(true);
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("ids and keys made of them are the same on every replay", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      const step = world.step(`step-${ctx.uuid()}`, (input) => input);
      const value = await ctx.run(step, { at: ctx.now(), luck: ctx.random() });
      return [value, await ctx.suspend({ on: "gate", correlationKey: ctx.uuid() })];
    });
    let process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    const before = await world.events();
    for (let i = 0; i < 5; i++) process = await replay(world, f);
    expect(await world.events()).toEqual(before);
    await process.finish("x", { gate: 1 });
    expect([...world.runs.values()]).toEqual([1]);
  });
});

describe("C-REP-04: ambient sources are found out on the first replay", () => {
  let reading = 0;
  /** Stand-ins that give another value each time, as the real ones would. */
  const ambient = {
    now: () => 1_767_225_600_000 + reading++,
    random: () => 0.123_456_789 + reading++ / 1_000,
    uuid: () => `0192f0c1-2345-7000-8000-${String(reading++).padStart(12, "0")}`,
  };

  const MISTAKES: readonly [string, (ctx: ExecutionContext, world: World) => unknown, string][] = [
    [
      "a step's input from Date.now()",
      (ctx, world) =>
        ctx.run(
          world.step("s", () => 1),
          { at: ambient.now() },
        ),
      "use ctx.now() instead of Date.now()",
    ],
    [
      "a step's input from new Date()",
      (ctx, world) =>
        ctx.run(
          world.step("s", () => 1),
          { at: new Date(ambient.now()) },
        ),
      "use ctx.now() instead of Date.now() or new Date()",
    ],
    [
      "a step's input from Math.random()",
      (ctx, world) =>
        ctx.run(
          world.step("s", () => 1),
          [ambient.random()],
        ),
      "use ctx.random() instead of Math.random()",
    ],
    [
      "a step's input from randomUUID()",
      (ctx, world) =>
        ctx.run(
          world.step("s", () => 1),
          ambient.uuid(),
        ),
      "use ctx.uuid() instead of crypto.randomUUID()",
    ],
    [
      "a step's id from Date.now()",
      (ctx, world) =>
        ctx.run(
          world.step(`s-${ambient.now()}`, () => 1),
          1,
        ),
      "use ctx.now() instead of Date.now()",
    ],
    [
      "a step's id from Math.random()",
      (ctx, world) =>
        ctx.run(
          world.step(`s-${ambient.random()}`, () => 1),
          1,
        ),
      "use ctx.random() instead of Math.random()",
    ],
    [
      "a step's id from randomUUID()",
      (ctx, world) =>
        ctx.run(
          world.step(`s-${ambient.uuid()}`, () => 1),
          1,
        ),
      "use ctx.uuid() instead of crypto.randomUUID()",
    ],
    [
      "a correlation key from randomUUID()",
      (ctx) => void ctx.suspend({ on: "other", correlationKey: ambient.uuid() }),
      "use ctx.uuid() instead of crypto.randomUUID()",
    ],
    [
      "a gate's name from Date.now()",
      (ctx) => void ctx.suspend({ on: `gate-${ambient.now()}` }),
      "use ctx.now() instead of Date.now()",
    ],
    [
      "an event from Date.now()",
      (ctx) => ctx.emit("e", { at: ambient.now() }),
      "use ctx.now() instead of Date.now()",
    ],
    [
      "a patch from Math.random()",
      (ctx) => ctx.ui.set("k", ambient.random()),
      "use ctx.random() instead of Math.random()",
    ],
    [
      "a delta from randomUUID()",
      (ctx) => ctx.stream("s", `id ${ambient.uuid()}`),
      "use ctx.uuid() instead of crypto.randomUUID()",
    ],
  ];

  test.each(MISTAKES)("%s", async (_, mistake, hint) => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      await mistake(ctx, world);
      return ctx.suspend({ on: "gate" });
    });
    const started = await world.open([f]);
    await world.until((await started.start(f, null)).waitForSuspend());
    const before = await world.events();
    const process = await replay(world, f);
    const [header] = await process.runtime.list({ status: "setAside" });
    expect(header?.aside).toMatchObject({ code: "REPLAY_DIVERGED" });
    expect(header?.aside?.message).toContain(hint);
    expect(await world.events()).toEqual(before);
  });
});
