// Goal: counts and waits are the log's, not the process's.

import { describe, expect, test } from "vitest";
import type { Budget, EffectContext } from "../../../src/effects/index.js";
import { World } from "../../support/world.js";
import { budgeted, using, usingAtOnce } from "./world.js";

const MINUTE = 60_000;
const acme = { tenant: "acme" };

describe("after a restart", () => {
  test.each(["execution", "flow", "tenant"] as const)(
    "what was used of an %s's budget is used",
    async (scope) => {
      const world = World.lmdb(2);
      const f = using();
      const budget: Budget = { scope, meter: "tokens", limit: 100 };
      const use = { tokens: 30 };
      const uses = [use, use, { ...use, ms: 1_000 }, use, use];
      const before = await budgeted(world, [f], [budget]);
      await before.start(f, uses, "a", acme);
      await world.when(() => world.ran("use#2", "a") === 1);
      const { process, ledger } = await budgeted(world, [f], [budget]);
      const state = await process.finish("a");
      // The third was cut off: what it used is not known, and it runs again. So the fifth is over.
      expect(state.variables["_output"]).toEqual(["used", "used", "used", "used", "QUOTA_EXCEEDED"]);
      expect(state.usage).toMatchObject({ calls: 5, tokens: 120 });
      const of = { execution: "a", flow: "f", tenant: "acme" }[scope];
      if (scope !== "execution") expect(ledger.used({ scope, of, meter: "tokens" })).toBe(120);
    },
  );

  test("windows are what they were, and open when they would have", async () => {
    const world = World.lmdb(2);
    const f = using();
    const budget: Budget = { scope: "flow", meter: "calls", limit: 2, perMs: MINUTE };
    await (await budgeted(world, [f], [budget])).run(f, [{}, {}], "a");
    const { run } = await budgeted(world, [f], [budget]);
    expect((await run(f, [{}], "b")).variables["_output"]).toEqual(["QUOTA_EXCEEDED"]);
    await world.pass(MINUTE);
    const next = await budgeted(world, [f], [budget]);
    expect((await next.run(f, [{}, {}, {}], "c")).variables["_output"]).toEqual([
      "used",
      "used",
      "QUOTA_EXCEEDED",
    ]);
  });

  test("a call that was cut off counts, where budgets would have let it through", async () => {
    const world = World.lmdb();
    const f = using();
    const budget: Budget = { scope: "tenant", meter: "calls", limit: 3 };
    await (await budgeted(world, [f], [budget])).start(f, [{}, { ms: 1_000 }, {}], "a", acme);
    await world.when(() => world.ran("use#1", "a") === 1);
    const { process } = await budgeted(world, [f], [budget]);
    expect((await process.finish("a")).variables["_output"]).toEqual(["used", "used", "QUOTA_EXCEEDED"]);
    expect(world.runs.get("calls")).toBe(3);
  });

  test("budgets that were not there before know what was used, once anything was counted", async () => {
    const world = World.lmdb(2);
    const f = using();
    await (await budgeted(world, [f], [])).run(f, [{ tokens: 80 }, {}], "a", acme);
    const { run } = await budgeted(world, [f], [{ scope: "tenant", meter: "tokens", limit: 80 }]);
    expect((await run(f, [{}], "b", acme)).variables["_output"]).toEqual(["QUOTA_EXCEEDED"]);
  });
});

describe("a throttled attempt", () => {
  const budget: Budget = { scope: "tenant", meter: "calls", limit: 2, perMs: MINUTE, onExceeded: "throttle" };

  test.each([10_000, 0])(
    "waits in the log, also over restarts, and is charged nothing. Resident: %i",
    async (maxResident) => {
      const world = World.lmdb(2);
      const f = usingAtOnce();
      const begun = world.clock.now;
      const first = await budgeted(world, [f], [budget], { maxResident });
      await first.start(
        f,
        Array.from({ length: 7 }, () => ({ ms: 1 })),
        "a",
        acme,
      );
      await world.pass(MINUTE / 4);
      expect(world.runs.get("calls")).toBe(2);
      await budgeted(world, [f], [budget], { maxResident });
      await world.pass(MINUTE / 4);
      expect(world.runs.get("calls")).toBe(2);
      const { process } = await budgeted(world, [f], [budget], { maxResident });
      const state = await process.finish("a");
      expect(state.status).toBe("completed");
      expect(world.runs.get("calls")).toBe(7);
      expect(state.usage).toMatchObject({ calls: 7 });
      // Two a minute: the last one had its turn in the fourth.
      expect(Math.floor((state.updatedAt - begun) / MINUTE)).toBe(3);
      for (const frame of Object.values(state.frames))
        expect(frame).toMatchObject({ status: "completed", attempts: 1 });
      // Each waits once, because it is told a window that has room for it.
      const retried = (await world.events("a")).filter(({ type }) => type === "STEP_RETRIED");
      expect(retried).toHaveLength(5);
    },
  );

  test("keeps what its step's policy allows of failures", async () => {
    const world = World.memory();
    const f = using();
    const failures: unknown[] = [];
    const failing = async (ctx: EffectContext): Promise<never> => {
      failures.push(ctx.failures);
      throw new Error("no");
    };
    const { run } = await budgeted(world, [f], [{ ...budget, limit: 1 }], { middleware: [failing] });
    const state = await run(f, [{}, {}, {}], "a", acme);
    expect(failures).toEqual([0, 0, 0]);
    expect(state.frames["use#2"]).toMatchObject({ status: "failed", attempts: 1, error: { message: "no" } });
  });

  test("may be cancelled while it waits", async () => {
    const world = World.memory();
    const f = using();
    const { start, process } = await budgeted(world, [f], [budget]);
    await start(f, [{}, {}, {}], "a", acme);
    await world.pass(1_000);
    await world.until(process.runtime.cancel("a", "enough"));
    await world.pass(10 * MINUTE);
    expect(world.runs.get("calls")).toBe(2);
    expect((await world.types("a")).at(-1)).toBe("EXECUTION_CANCELLED");
    expect(await process.store.timers()).toEqual([]);
  });
});

describe("when commits fail", () => {
  test("what was counted and did not become durable is counted no more", async () => {
    const world = World.memory();
    const f = using();
    const { process, ledger, start } = await budgeted(
      world,
      [f],
      [{ scope: "flow", meter: "tokens", limit: 1_000 }],
    );
    await start(f, [{ tokens: 1 }, { tokens: 10 }, { tokens: 100, ms: 50 }], "a");
    await world.when(() => world.ran("use#2", "a") === 1);
    process.store.failure = new Error("disk full");
    await world.pass(500);
    process.store.failure = undefined;
    const state = await process.finish("a");
    expect(state.status).toBe("completed");
    expect(ledger.used({ scope: "flow", of: "f", meter: "tokens" })).toBe(state.usage?.tokens);
    expect(ledger.used({ scope: "flow", of: "f", meter: "calls" })).toBe(state.usage?.calls);
    expect(state.usage).toMatchObject({ calls: 4, tokens: 111 });
  });
});
