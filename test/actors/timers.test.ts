import { describe, expect, test } from "vitest";
import { Timers } from "../../src/actors/timers.js";
import type { HeddleError, PartitionLog, RegisteredFlow, TimerRow } from "../../src/kernel/index.js";
import { SimClock } from "../support/sim-clock.js";
import { flow, type Process, World } from "../support/world.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The last instant a Date can hold. */
const END_OF_TIME = 8.64e15;

const STORES = [
  ["memory", World.memory],
  ["LMDB", World.lmdb],
] as const;

const LONG = [
  { what: "a sleep of 25 days (over 2^31 ms)", wait: 25 * DAY, kind: "sleep" },
  { what: "a sleep of 30 days", wait: 30 * DAY, kind: "sleep" },
  { what: "a sleep of 400 days", wait: 400 * DAY, kind: "sleep" },
  { what: "a gate with a timeout of 60 days", wait: 60 * DAY, kind: "gate" },
  { what: "a retry after 90 days", wait: 90 * DAY, kind: "retry" },
] as const;

/** A flow that waits once, in the way named, and says when it went on. */
function waiting(world: World, kind: (typeof LONG)[number]["kind"], wait: number): RegisteredFlow {
  const step = world.step(
    "step",
    (_input, { attempt }) => {
      if (attempt === 1) throw new Error("not yet");
    },
    { retry: { maxAttempts: 2, baseDelayMs: wait, maxDelayMs: wait } },
  );
  return flow("waiting", async (ctx) => {
    if (kind === "sleep") await ctx.sleep(wait);
    else if (kind === "retry") await ctx.run(step, 1);
    else await ctx.suspend({ on: "silence", timeout: wait }).catch(() => {});
    return ctx.now();
  });
}

test("T2: a timer whose clock is set back between its call and the pass still fires when it is due", async () => {
  const world = World.memory();
  const process = await world.open([waiting(world, "sleep", MINUTE)]);
  await process.start(waiting(world, "sleep", MINUTE), null);
  await world.settle();
  const wakeAt = world.clock.nextDue;
  world.clock.step(); // called, and its pass promised
  world.clock.jump(-HOUR);
  await world.settle();
  expect(await world.types()).not.toContain("TIMER_FIRED");
  const { status, updatedAt } = await process.finish("x");
  expect({ status, updatedAt }).toEqual({ status: "completed", updatedAt: wakeAt });
});

describe.each(STORES)("C-SUS-04 on %s: long waits", (_, makeWorld) => {
  test.each(LONG)(
    "$what fires at its time, not before, and does nothing in its first minute",
    async ({ kind, wait }) => {
      const world = makeWorld();
      const f = waiting(world, kind, wait);
      const begun = world.clock.now;
      const process = await world.open([f]);
      await process.start(f, null);
      await world.settle();
      const [commits, fired] = [process.store.commits, world.clock.fired];
      await world.pass(MINUTE);
      expect([process.store.commits, world.clock.fired]).toEqual([commits, fired]);
      await world.pass(begun + wait - 1 - world.clock.now);
      // What has fired are looks at the clock, one an hour, and none of them wrote anything.
      expect(process.store.commits).toBe(commits);
      expect(world.clock.fired - fired).toBeLessThanOrEqual(wait / HOUR);
      expect((await process.runtime.loadState("x")).status).not.toBe("completed");
      expect((await process.finish("x")).variables["_output"]).toBe(begun + wait);
      expect(world.clock.now).toBe(begun + wait);
      expect(await process.store.timers()).toEqual([]);
    },
  );

  test.each(LONG)("$what keeps its due time over a restart at half time", async ({ kind, wait }) => {
    const world = makeWorld();
    const f = waiting(world, kind, wait);
    const begun = world.clock.now;
    const first = await world.open([f]);
    await first.start(f, null);
    await world.pass(1);
    await first.kill();
    world.clock.jump(wait / 2);
    const process = await world.open([f]);
    expect((await process.finish("x")).variables["_output"]).toBe(begun + wait);
  });

  test.each(LONG)(
    "$what fires at once, and once, when the process comes back after its due time",
    async ({ kind, wait }) => {
      const world = makeWorld();
      const f = waiting(world, kind, wait);
      const first = await world.open([f]);
      await first.start(f, null);
      await world.pass(1);
      await first.kill();
      world.clock.jump(2 * wait);
      const back = world.clock.now;
      const process = await world.open([f]);
      expect((await process.finish("x")).variables["_output"]).toBe(back);
      await world.pass(2 * wait);
      const types = await world.types();
      expect(
        types.filter((type) => ["TIMER_FIRED", "GATE_TIMED_OUT", "STEP_COMPLETED"].includes(type)).length,
      ).toBe(1);
      expect(types.filter((type) => type === "STEP_RETRIED").length).toBe(kind === "retry" ? 1 : 0);
    },
  );
});

describe("C-SUS-04: durations at the edges", () => {
  async function outcome(duration: unknown): Promise<unknown> {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      const begun = ctx.now();
      const results: unknown[] = [];
      for (const wait of [
        () => ctx.sleep(duration as number),
        () => ctx.suspend({ on: "gate", timeout: duration as number }),
      ]) {
        await wait().catch((error: HeddleError) => results.push(error.code));
        results.push(ctx.now() - begun);
      }
      return results;
    });
    const process = await world.open([f]);
    await process.start(f, null);
    return (await process.finish("x")).variables["_output"];
  }

  test.each([Number.NaN, Infinity, Number.MAX_VALUE, END_OF_TIME, "5", null, 5n, {}, new Date()])(
    "%s is refused",
    async (duration) => {
      expect(await outcome(duration)).toEqual(["INPUT_INVALID", 0, "INPUT_INVALID", 0]);
    },
  );

  test.each([0, -0, -1, -1e300, -Infinity])("%d is over at once", async (duration) => {
    expect(await outcome(duration)).toEqual([0, "GATE_TIMED_OUT", 0]);
  });

  test.each([
    [0.2, 1],
    [1, 1],
    [1_500.5, 1_501],
  ])("%d ms is never less than asked for", async (duration, waited) => {
    expect(await outcome(duration)).toEqual([waited, "GATE_TIMED_OUT", 2 * waited]);
  });

  test("the last date there is can be waited for", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      await ctx.sleep(END_OF_TIME - ctx.now());
    });
    const process = await world.open([f]);
    await process.start(f, null);
    await world.pass(400 * DAY);
    expect((await process.store.timers()).map(({ wakeAt }) => wakeAt)).toEqual([END_OF_TIME]);
    expect((await process.runtime.loadState("x")).status).toBe("suspended");
  });

  test("a clock that gives fractions fires timers all the same", async () => {
    const world = World.memory();
    world.clock.jump(0.123);
    const f = flow("f", async (ctx) => {
      await ctx.sleep(10);
      return ctx.now();
    });
    const process = await world.open([f]);
    const begun = world.clock.now;
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe(begun + 10);
  });
});

describe("C-SUS-04: order", () => {
  test.each(STORES)("overdue timers fire once, in due order, on %s", async (_, makeWorld) => {
    const world = makeWorld();
    const f = flow<number>("f", async (ctx, ms) => ctx.sleep(ms));
    const first = await world.open([f]);
    // Started in an order that is not that of their due times.
    const waits = Array.from({ length: 40 }, (__, i) => ((i * 17) % 40) * 1_000 + 1);
    for (const [i, wait] of waits.entries()) await first.start(f, wait, `x${i}`);
    await first.kill();
    world.clock.jump(HOUR);
    const order: string[] = [];
    const process = await world.open([f], {
      onDurableEvent: ({ type, executionId }) => {
        if (type === "TIMER_FIRED") order.push(executionId);
      },
    });
    await world.when(() => order.length === 40);
    await world.pass(HOUR);
    const due = waits.map((wait, i) => ({ wait, id: `x${i}` })).sort((a, b) => a.wait - b.wait);
    expect(order).toEqual(due.map(({ id }) => id));
    expect((await process.runtime.list({ status: "completed" })).length).toBe(40);
  });

  test("C-LIF-03: a flood of overdue timers comes in portions, and a start among them gets its turn", async () => {
    const world = World.memory();
    const f = flow<number>("f", async (ctx, ms) => ctx.sleep(ms));
    const quick = flow("quick", async (ctx) => ctx.decide("d", () => 1));
    const first = await world.open([f]);
    const ids = Array.from({ length: 1_000 }, (_, i) => `x${i}`);
    await world.until(
      Promise.all(ids.map((executionId, i) => first.runtime.start(f, 1 + i, { executionId }))),
    );
    await first.kill();
    world.clock.jump(HOUR);
    let fired = 0;
    let firedBefore = -1;
    const process = world.prepare([f, quick], {
      onDurableEvent: ({ type, executionId }) => {
        if (type === "TIMER_FIRED" && ++fired === 1)
          void process.runtime.start(quick, null, { executionId: "quick" });
        if (executionId === "quick" && type === "EXECUTION_COMPLETED") firedBefore = fired;
      },
    });
    await world.until(process.runtime.open());
    await world.when(() => fired === 1_000);
    expect(process.store.largestCommit).toBeLessThanOrEqual(257);
    expect(firedBefore).toBeLessThan(1_000);
    expect(firedBefore).toBeGreaterThan(0);
  });

  test("a timer armed for an earlier time than the one waited for is not overslept", async () => {
    const world = World.memory();
    const f = flow<number, number>("f", async (ctx, ms) => {
      await ctx.sleep(ms);
      return ctx.now();
    });
    const process = await world.open([f]);
    const begun = world.clock.now;
    for (const [id, wait] of [
      ["late", 10 * DAY],
      ["early", 5_000],
      ["middle", DAY],
      ["zero", 0],
    ] as const)
      await process.start(f, wait, id);
    for (const [id, wait] of [
      ["zero", 0],
      ["early", 5_000],
      ["middle", DAY],
      ["late", 10 * DAY],
    ] as const) {
      expect((await process.finish(id)).variables["_output"]).toBe(begun + wait);
      expect(world.clock.now).toBe(begun + wait);
    }
  });

  test("a timer that becomes durable while the index is read is not forgotten", async () => {
    const clock = new SimClock().lifetime();
    const now = clock.now();
    const row = { wakeAt: now, key: 1, gateId: "gate:sleep#0" };
    let rows: TimerRow[] = [];
    const timersDue = async (): Promise<TimerRow[]> => [...rows];
    const nextTimer = async (): Promise<undefined> => {
      rows = [row]; // its commit came between the two reads
      timers.armed(rows);
      return undefined;
    };
    const timers = new Timers({ timersDue, nextTimer } as unknown as PartitionLog, clock, () => {});
    expect(await timers.takeDue(now)).toEqual([]);
    expect(timers.isDue(now)).toBe(true);
    expect(await timers.takeDue(now)).toEqual([row]);
  });

  test("a clock set back makes nothing fire early", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => ctx.sleep(HOUR));
    const process = await world.open([f]);
    await process.start(f, null);
    await world.pass(MINUTE);
    world.clock.jump(-30 * MINUTE);
    await world.pass(89 * MINUTE - 1);
    expect((await process.runtime.loadState("x")).status).toBe("suspended");
    await world.pass(1);
    expect((await process.runtime.loadState("x")).status).toBe("completed");
  });

  test("an idle runtime asks its clock for nothing", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => ctx.suspend({ on: "gate" }));
    const process: Process = await world.open([f]);
    for (let i = 0; i < 20; i++) await world.until((await process.start(f, null, `x${i}`)).waitForSuspend());
    await world.settle();
    expect(world.clock.nextDue).toBeUndefined();
    expect(world.clock.pendingSoon).toBe(0);
  });
});
