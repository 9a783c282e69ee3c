// Goal: every meter, every scope and every answer, in every combination.
// Method: two calls fit into each budget, exactly; the third asks for more.

import { describe, expect, test } from "vitest";
import type { Budget, BudgetScope, OnExceeded } from "../../../src/effects/index.js";
import type { Meter, RegisteredFlow } from "../../../src/kernel/index.js";
import { latch } from "../../support/latch.js";
import { flow, World } from "../../support/world.js";
import { budgeted, type Use, using, usingAtOnce } from "./world.js";

const WINDOW_MS = 60_000;

/** What one call uses, and a limit that two of them reach. */
const METERS: { readonly [M in Meter]: { readonly use: Use; readonly limit: number } } = {
  calls: { use: {}, limit: 2 },
  tokens: { use: { tokens: 50 }, limit: 100 },
  cost: { use: { cost: 0.25 }, limit: 0.5 },
  wallMs: { use: { ms: 10 }, limit: 20 },
};

/** Who makes the three calls: the scope's own way of being more than one execution. */
const SCOPES: { readonly [S in BudgetScope]: readonly (readonly [execution: string, calls: number])[] } = {
  execution: [["a", 3]],
  flow: [
    ["a", 2],
    ["b", 1],
  ],
  tenant: [
    ["a", 2],
    ["b", 1],
  ],
};

const rows = (Object.keys(METERS) as Meter[]).flatMap((meter) =>
  (Object.keys(SCOPES) as BudgetScope[]).flatMap((scope) =>
    (["reject", "throttle", "end"] as const).map((onExceeded) => [meter, scope, onExceeded] as const),
  ),
);

async function threeCalls(meter: Meter, scope: BudgetScope, onExceeded: OnExceeded) {
  const world = World.memory();
  const { use, limit } = METERS[meter];
  const budget: Budget = { scope, meter, limit, perMs: WINDOW_MS, onExceeded };
  // Executions of a tenant need not be of one flow.
  const flows: Record<string, RegisteredFlow> = {
    a: using("f"),
    b: scope === "tenant" ? using("g") : using("f"),
  };
  if (scope !== "tenant") flows["b"] = flows["a"]!;
  const { run, ledger } = await budgeted(world, [...new Set(Object.values(flows))], [budget]);
  const begun = world.clock.now;
  const principal = { actor: "ann", tenant: "acme" };
  const states = [];
  for (const [id, calls] of SCOPES[scope])
    states.push(
      await run(
        flows[id]!,
        Array.from({ length: calls }, () => use),
        id,
        principal,
      ),
    );
  const last = SCOPES[scope].at(-1)![0];
  return { world, begun, ledger, limit, state: states.at(-1)!, events: await world.events(last), last };
}

describe("a budget that two calls use up", () => {
  test.each(rows)("of %s of an %s answers the third with %s", async (meter, scope, onExceeded) => {
    const { world, begun, state, events, limit, ledger, last } = await threeCalls(meter, scope, onExceeded);
    const types = events.map(({ type }) => type);
    const exceeded = events.find(({ type }) => type === "QUOTA_EXCEEDED");
    if (onExceeded === "throttle") {
      const opensAt = begun - (begun % WINDOW_MS) + WINDOW_MS;
      expect(state.status).toBe("completed");
      expect(state.updatedAt).toBeGreaterThanOrEqual(opensAt);
      expect(world.runs.get("calls")).toBe(3);
      expect(exceeded).toBeUndefined();
      const [retried] = events.filter(({ type }) => type === "STEP_RETRIED");
      expect(retried?.payload).toMatchObject({ attempt: 1, reason: "throttled", dueAt: opensAt });
      expect(Object.values(state.frames).at(-1)).toMatchObject({ attempts: 1, status: "completed" });
      return;
    }
    expect(world.runs.get("calls")).toBe(2);
    expect(exceeded?.payload).toEqual({
      stepId: scope === "execution" ? "use#2" : "use#0",
      scope,
      meter,
      limit,
      used: limit,
    });
    if (onExceeded === "reject") {
      expect(types.at(types.indexOf("QUOTA_EXCEEDED") + 1)).toBe("STEP_FAILED");
      expect(state.status).toBe("completed");
      expect((state.variables["_output"] as unknown[]).at(-1)).toBe("QUOTA_EXCEEDED");
      expect(Object.values(state.frames).at(-1)?.error).toMatchObject({
        code: "QUOTA_EXCEEDED",
        details: { scope, meter, limit, used: limit, opensAt: begun - (begun % WINDOW_MS) + WINDOW_MS },
      });
    } else {
      expect(types.slice(-2)).toEqual(["QUOTA_EXCEEDED", "EXECUTION_FAILED"]);
      expect(state).toMatchObject({ status: "failed", error: { code: "QUOTA_EXCEEDED" } });
    }
    const of = { execution: last, flow: "f", tenant: "acme" }[scope];
    if (scope !== "execution") expect(ledger.used({ scope, of, meter, perMs: WINDOW_MS })).toBe(limit);
  });
});

describe("whom a budget holds for", () => {
  const two = { meter: "calls", limit: 2 } as const;
  const acme = { tenant: "acme" };

  test("each flow, each tenant and each execution has its limit to itself", async () => {
    const world = World.memory();
    const flows = [using("f"), using("g")] as const;
    const budgets = (["flow", "tenant", "execution"] as const).map((scope): Budget => ({ scope, ...two }));
    const { run } = await budgeted(world, flows, budgets);
    await run(flows[0], [{}, {}], "a", acme);
    await run(flows[1], [{}, {}], "b", { tenant: "other" });
    expect(world.runs.get("calls")).toBe(4);
    expect((await run(flows[0], [{}], "c", { tenant: "third" })).variables["_output"]).toEqual([
      "QUOTA_EXCEEDED",
    ]);
  });

  test("`of` names one of them", async () => {
    const world = World.memory();
    const flows = [using("f"), using("g")] as const;
    const budgets: Budget[] = [
      { scope: "flow", of: "f", ...two },
      { scope: "tenant", of: "acme", meter: "tokens", limit: 10 },
    ];
    const { run } = await budgeted(world, flows, budgets);
    await run(flows[1], [{ tokens: 90 }, {}, {}], "a", { tenant: "other" });
    await run(flows[0], [{}, {}, {}], "b");
    await run(flows[1], [{ tokens: 10 }, {}], "c", acme);
    expect(world.runs.get("calls")).toBe(3 + 2 + 1);
  });

  test("a tenant's budget does not hold for whoever has no tenant", async () => {
    const world = World.memory();
    const f = using();
    const { run } = await budgeted(world, [f], [{ scope: "tenant", ...two }]);
    await run(f, [{}, {}, {}], "a", "ann");
    await run(f, [{}, {}, {}], "b");
    expect(world.runs.get("calls")).toBe(6);
  });

  test("of several that are used up an end decides before a rejection, and that before a wait", async () => {
    const answers: (readonly OnExceeded[])[] = [
      ["throttle", "reject", "end"],
      ["end", "throttle"],
      ["throttle", "reject"],
    ];
    const came = [];
    for (const order of answers) {
      const world = World.memory();
      const f = using();
      const budgets = order.map(
        (onExceeded): Budget => ({ scope: "flow", meter: "calls", limit: 1, perMs: WINDOW_MS, onExceeded }),
      );
      const { run } = await budgeted(world, [f], budgets);
      const { status, variables } = await run(f, [{}, {}], "a");
      came.push([status, variables["_output"]]);
    }
    expect(came).toEqual([
      ["failed", undefined],
      ["failed", undefined],
      ["completed", ["used", "QUOTA_EXCEEDED"]],
    ]);
  });
});

describe("what counts", () => {
  test.each([10_000, 0])(
    "a thousand steps at once do not pass a limit of ten. Resident: %i",
    async (maxResident) => {
      const world = World.memory(2);
      const f = usingAtOnce();
      const { start, process } = await budgeted(
        world,
        [f],
        [{ scope: "tenant", meter: "calls", limit: 10 }],
        {
          maxResident,
        },
      );
      const uses = Array.from({ length: 100 }, () => ({ tokens: 1, ms: 5 }));
      const ids = Array.from({ length: 10 }, (_, i) => `x${i}`);
      await Promise.all(ids.map((id) => start(f, uses, id, { tenant: "acme" })));
      for (const id of ids) expect((await process.finish(id)).status).toBe("completed");
      expect(world.runs.get("calls")).toBe(10);
    },
  );

  test("an attempt that was denied or failed, a retry, and what middleware answers", async () => {
    const world = World.memory();
    const f = using();
    let failures = 2;
    const flaky = async (_ctx: unknown, _input: unknown, next: () => Promise<unknown>): Promise<unknown> => {
      if (failures-- > 0) throw new Error("not yet");
      return next();
    };
    const { run, ledger } = await budgeted(world, [f], [{ scope: "flow", meter: "calls", limit: 100 }], {
      middleware: [flaky],
    });
    const state = await run(f, [{}, {}, {}], "a");
    expect(world.runs.get("calls")).toBe(1);
    expect(state.usage).toMatchObject({ calls: 3 });
    expect(ledger.used({ scope: "flow", of: "f", meter: "calls" })).toBe(3);
  });

  test("budgets and reports add no event to steps that come to an outcome", async () => {
    const world = World.memory();
    const f = using();
    const { run } = await budgeted(world, [f], []);
    await run(f, [{}], "counted");
    expect(await world.types("counted")).toEqual([
      "EXECUTION_STARTED",
      "STEP_STARTED",
      "STEP_COMPLETED",
      "EXECUTION_COMPLETED",
    ]);
    await world.process?.kill();
    const step = world.step("s", (tokens: number, { meter }) => {
      if (tokens > 0) meter({ tokens });
      if (tokens > 1) meter({ tokens, cost: 0.5 });
    });
    const plain = flow<number>("plain", (ctx, tokens) => ctx.run(step, tokens));
    const process = await world.open([plain]);
    await process.start(plain, 0, "none");
    await process.finish("none");
    expect(await world.types("none")).toHaveLength(4);
    await process.start(plain, 7, "some");
    expect((await process.finish("some")).usage).toEqual({ calls: 1, tokens: 14, cost: 0.5, wallMs: 0 });
    expect(await world.types("some")).toHaveLength(4);
    const completed = (await world.events("some")).find(({ type }) => type === "STEP_COMPLETED");
    expect(completed?.payload).toEqual({ stepId: "s", output: undefined, used: { tokens: 14, cost: 0.5 } });
  });

  test("an attempt that is made again has an event of its own", async () => {
    const world = World.memory();
    const step = world.step(
      "s",
      (tokens: number, { attempt, meter }) => {
        meter({ tokens });
        if (attempt < 3) throw new Error("not yet");
      },
      { retry: { maxAttempts: 3 } },
    );
    const f = flow<number>("f", (ctx, tokens) => ctx.run(step, tokens));
    const { process, ledger } = await budgeted(world, [f], []);
    await process.start(f, 7, "a");
    expect((await process.finish("a")).usage).toMatchObject({ calls: 3, tokens: 21 });
    expect((await world.types("a")).slice(1, -1)).toEqual([
      "STEP_STARTED",
      "EFFECT_METERED",
      "STEP_RETRIED",
      "EFFECT_METERED",
      "STEP_RETRIED",
      "STEP_COMPLETED",
    ]);
    expect(ledger.used({ scope: "flow", of: "f", meter: "tokens" })).toBe(21);
  });

  test("what is under way when its execution ends is accounted for with the end; later reports are not", async () => {
    const world = World.memory();
    const f = using();
    const { start, process, ledger } = await budgeted(
      world,
      [f],
      [{ scope: "flow", meter: "tokens", limit: 100 }],
    );
    await start(f, [{ tokens: 40, ms: 1_000 }], "a");
    await world.when(() => world.runs.get("calls") === 1);
    await world.pass(10);
    await world.until(process.runtime.cancel("a", "enough"));
    expect((await world.types("a")).slice(-3)).toEqual([
      "EFFECT_METERED",
      "CANCEL_REQUESTED",
      "EXECUTION_CANCELLED",
    ]);
    expect((await process.finish("a")).usage).toMatchObject({ calls: 1, tokens: 40 });
    await world.pass(2_000);
    expect(ledger.used({ scope: "flow", of: "f", meter: "tokens" })).toBe(40);
  });

  test("so is what others had under way when their flow returned, or a budget ended it", async () => {
    const world = World.memory();
    const racing = flow("racing", async (ctx) => {
      const slow = ctx.execute({ id: "slow", toolId: "use" }, { tokens: 30, ms: 1_000 });
      return Promise.race([slow, ctx.execute({ id: "fast", toolId: "use" }, { ms: 10 })]);
    });
    const wide = usingAtOnce();
    const budgets: Budget[] = [{ scope: "flow", of: "wide", meter: "calls", limit: 2, onExceeded: "end" }];
    const { run, ledger } = await budgeted(world, [racing, wide], budgets);
    expect((await run(racing, [], "a")).usage).toMatchObject({ calls: 2, tokens: 30 });
    expect((await world.types("a")).slice(-3)).toEqual([
      "STEP_COMPLETED",
      "EFFECT_METERED",
      "EXECUTION_COMPLETED",
    ]);
    const ended = await run(wide, [{ tokens: 5, ms: 1_000 }, { tokens: 6, ms: 1_000 }, {}], "b");
    expect(ended).toMatchObject({ status: "failed", usage: { calls: 2, tokens: 11 } });
    expect((await world.types("b")).slice(-4)).toEqual([
      "QUOTA_EXCEEDED",
      "EFFECT_METERED",
      "EFFECT_METERED",
      "EXECUTION_FAILED",
    ]);
    expect(ledger.used({ scope: "flow", of: "wide", meter: "tokens" })).toBe(11);
  });

  test("a call that was called off while its authority was asked for does not count", async () => {
    const world = World.memory();
    const f = using();
    const asked = latch();
    const authorizer = {
      authorize: async () => {
        asked.open();
        await world.delay(50);
        return { allowed: true };
      },
    };
    const budgets: Budget[] = [{ scope: "flow", meter: "calls", limit: 1 }];
    const { start, run, process, ledger } = await budgeted(world, [f], budgets, { authorizer });
    await start(f, [{}], "a");
    await world.until(asked.opened);
    await world.until(process.runtime.cancel("a", "enough"));
    await world.pass(100);
    expect(ledger.used({ scope: "flow", of: "f", meter: "calls" })).toBe(0);
    expect((await run(f, [{}], "b")).variables["_output"]).toEqual(["used"]);
  });

  test.each([
    ["tokens", -1],
    ["tokens", Number.NaN],
    ["cost", "1"],
    ["cost", Infinity],
  ])("a report of %s %s is refused in the effect", async (meter, value) => {
    const world = World.memory();
    const f = using();
    const { run } = await budgeted(world, [f], []);
    const state = await run(f, [{ [meter]: value }], "a");
    expect(state.frames["use#0"]?.error).toMatchObject({ code: "INPUT_INVALID" });
  });
});
