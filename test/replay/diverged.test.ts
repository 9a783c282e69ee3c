// Goal: code that no longer matches a log never adds to it (C-REP-01).
// Method: `a -> gate -> b` is parked, or killed in the middle of b, by the original code; then a process with changed code
// opens the log, and after it one with the original code again.

import { describe, expect, test } from "vitest";
import type { ExecutionContext, RegisteredFlow } from "../../src/kernel/index.js";
import { flow, World } from "../support/world.js";

interface Steps {
  readonly a: ReturnType<World["step"]>;
  readonly b: ReturnType<World["step"]>;
  readonly other: ReturnType<World["step"]>;
  readonly cleanup: ReturnType<World["step"]>;
}

type Body = (ctx: ExecutionContext, steps: Steps) => Promise<unknown>;

interface Change {
  readonly name: string;
  readonly body: Body;
  readonly position: number;
  readonly recorded: string;
  readonly attempted: string | undefined;
  readonly says: string;
}

const original: Body = async (ctx, { a, b }) => {
  const first = await ctx.run(a, { n: 1 });
  await ctx.suspend({ on: "gate" });
  return [first, await ctx.run(b, first)];
};

const rest: Body = async (ctx, { b }) => {
  await ctx.suspend({ on: "gate" });
  return ctx.run(b, 1);
};

const CHANGES: readonly Change[] = [
  {
    name: "a renamed",
    body: async (ctx, steps) => {
      await ctx.run(steps.other, { n: 1 });
      return rest(ctx, steps);
    },
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: "STEP_STARTED other",
    says: 'They differ at stepId: recorded "a", attempted "other"',
  },
  {
    name: "a and a new step swapped",
    body: async (ctx, steps) => {
      await ctx.run(steps.b, { n: 1 });
      await ctx.run(steps.a, { n: 1 });
      return ctx.suspend({ on: "gate" });
    },
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: "STEP_STARTED b",
    says: "the code attempted STEP_STARTED b",
  },
  {
    name: "a turned into a sleep",
    body: async (ctx, steps) => {
      await ctx.sleep(10);
      return rest(ctx, steps);
    },
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: "a sleep (sleep#0)",
    says: "the code attempted a sleep",
  },
  {
    name: "a turned into a decision",
    body: async (ctx, steps) => {
      await ctx.decide("a", () => 1);
      return rest(ctx, steps);
    },
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: undefined,
    says: "waits for something else and never reaches it",
  },
  {
    name: "a deleted",
    body: rest,
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: "EXECUTION_SUSPENDED on gate",
    says: "the code attempted EXECUTION_SUSPENDED on gate",
  },
  {
    name: "a with another input",
    body: async (ctx, steps) => {
      await ctx.run(steps.a, { n: 2 });
      return rest(ctx, steps);
    },
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: "STEP_STARTED a",
    says: "They differ at input.n: recorded 1, attempted 2",
  },
  {
    name: "an event added before a",
    body: async (ctx, steps) => {
      ctx.emit("hello", 1);
      return original(ctx, steps);
    },
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: "event hello",
    says: "the code attempted event hello",
  },
  {
    name: "the time taken before a",
    body: async (ctx, steps) => {
      ctx.now();
      return original(ctx, steps);
    },
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: "ctx.now()",
    says: "the code attempted ctx.now()",
  },
  {
    name: "more and more said after the first mismatch, in one breath",
    body: async (ctx, steps) => {
      void ctx.run(steps.other, 1);
      ctx.emit("e", 1);
      ctx.stream("s", "delta");
      ctx.ui.set("k", 1);
      void ctx.sleep(1);
      void ctx.suspend({ on: "gate" });
      void ctx.decide("d", () => 1);
      return [ctx.now() > 0, ctx.random() < 1, ctx.uuid().length];
    },
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: "STEP_STARTED other",
    says: "STEP_STARTED other",
  },
  {
    name: "a failure right after the first mismatch",
    body: async (ctx, steps) => {
      void ctx.run(steps.other, 1);
      throw new Error("and then this");
    },
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: "STEP_STARTED other",
    says: "STEP_STARTED other",
  },
  {
    name: "a gate of another name",
    body: async (ctx, steps) => {
      await ctx.run(steps.a, { n: 1 });
      return ctx.suspend({ on: "door" });
    },
    position: 3,
    recorded: "EXECUTION_SUSPENDED on gate",
    attempted: "EXECUTION_SUSPENDED on door",
    says: 'They differ at on: recorded "gate", attempted "door"',
  },
  {
    name: "an early return",
    body: async (ctx, { a }) => ctx.run(a, { n: 1 }),
    position: 3,
    recorded: "EXECUTION_SUSPENDED on gate",
    attempted: undefined,
    says: "the flow returned before reaching it",
  },
  {
    name: "an early failure",
    body: async (ctx, { a }) => {
      await ctx.run(a, { n: 1 });
      throw new Error("changed my mind");
    },
    position: 3,
    recorded: "EXECUTION_SUSPENDED on gate",
    attempted: undefined,
    says: "the flow threw before reaching it",
  },
  {
    name: "a renamed, with compensation around it",
    body: async (ctx, { other, cleanup }) => {
      try {
        return await ctx.run(other, { n: 1 });
      } catch {
        return await ctx.run(cleanup, "caught");
      } finally {
        await ctx.run(cleanup, "finally");
      }
    },
    position: 1,
    recorded: "STEP_STARTED a",
    attempted: "STEP_STARTED other",
    says: "Deploy the code that started it",
  },
];

function stepsOf(world: World): Steps {
  return {
    a: world.step("a", () => "first"),
    b: world.step("b", async () => {
      await world.delay(1_000);
      return "second";
    }),
    other: world.step("other", () => "other"),
    cleanup: world.step("cleanup", () => "cleanup"),
  };
}

function flowOf(world: World, body: Body): RegisteredFlow {
  const steps = stepsOf(world);
  return flow("f", (ctx) => body(ctx, steps));
}

describe.each([
  ["memory", World.memory],
  ["LMDB", World.lmdb],
])("C-REP-01 on %s: parked, then opened by code with", (_, makeWorld) => {
  test.each(CHANGES)("$name", async ({ body, position, recorded, attempted, says }) => {
    const world = makeWorld();
    let process = await world.open([flowOf(world, original)]);
    await world.until((await process.start(flowOf(world, original), null)).waitForSuspend());
    const before = await world.events();

    process = await world.restart([flowOf(world, body)]);
    expect((await process.runtime.list({ status: "suspended" })).map(({ id }) => id)).toEqual(["x"]);
    const waiting = process.runtime.handle("x").waitForCompletion();
    const resumed = process.runtime.resume("x", { eventType: "gate", payload: 1, requestId: "r" });
    await expect(world.until(resumed)).rejects.toMatchObject({
      code: "EXECUTION_SET_ASIDE",
      details: { reason: "REPLAY_DIVERGED" },
    });
    await expect(world.until(waiting)).rejects.toMatchObject({ code: "EXECUTION_SET_ASIDE" });

    const [header] = await process.runtime.list({ status: "setAside" });
    expect(header).toMatchObject({ id: "x", status: "setAside", aside: { code: "REPLAY_DIVERGED" } });
    expect(header?.aside?.message).toContain(
      `Execution x diverged at position ${position}: the log has ${recorded}`,
    );
    expect(header?.aside?.message).toContain(says);
    if (attempted) expect(header?.aside?.message).toContain(`the code attempted ${attempted}`);
    expect(process.warnings.join()).toContain("is set aside (REPLAY_DIVERGED)");

    // Trying again changes nothing, and neither does looking.
    await expect(world.until(process.runtime.resume("x", { eventType: "gate" }))).rejects.toMatchObject({
      code: "EXECUTION_SET_ASIDE",
    });
    expect((await process.runtime.loadState("x")).sequence).toBe(before.length - 1);
    await world.pass(10_000);
    expect(await world.events()).toEqual(before);
    expect([world.ran("a"), world.ran("b"), world.ran("other"), world.ran("cleanup")]).toEqual([1, 0, 0, 0]);

    process = await world.restart([flowOf(world, original)]);
    const state = await process.finish("x", { gate: "go" });
    expect(state).toMatchObject({ status: "completed", variables: { _output: ["first", "second"] } });
    expect((await world.events()).slice(0, before.length)).toEqual(before);
    expect([world.ran("a"), world.ran("b"), world.ran("other")]).toEqual([1, 1, 0]);
    expect(await process.runtime.list({ status: "setAside" })).toEqual([]);
  });
});

describe("C-REP-01: killed while running, then opened by code with", () => {
  test.each(CHANGES)("$name", async ({ body, says }) => {
    const world = World.memory();
    let process = await world.open([flowOf(world, original)]);
    await process.start(flowOf(world, original), null);
    await world.until(process.runtime.handle("x").waitForSuspend());
    await world.until(process.runtime.resume("x", { eventType: "gate", payload: 1 }));
    await world.when(() => world.ran("b") === 1);
    const before = await world.events();
    expect(before.at(-1)?.type).toBe("STEP_STARTED");

    process = await world.restart([flowOf(world, body)]);
    await world.settle();
    const [header] = await process.runtime.list({ status: "setAside" });
    expect(header).toMatchObject({ id: "x", aside: { code: "REPLAY_DIVERGED" } });
    expect(header?.aside?.message).toContain(says);
    await world.pass(10_000);
    expect(await world.events()).toEqual(before);
    expect([world.ran("b"), world.ran("other"), world.ran("cleanup")]).toEqual([1, 0, 0]);

    process = await world.restart([flowOf(world, original)]);
    const state = await process.finish("x");
    expect(state).toMatchObject({ status: "completed", frames: { b: { attempts: 2 } } });
    expect((await world.events()).slice(0, before.length)).toEqual(before);
  });
});

describe("C-REP-01: entries of every other kind", () => {
  const full: Body = async (ctx, { a }) => {
    ctx.emit("begun", { n: 1 });
    ctx.stream("words", "one");
    ctx.ui.on("board").set("key", 1);
    ctx.now();
    ctx.uuid();
    await ctx.decide("choice", () => "left");
    await ctx.sleep(5);
    await ctx.run(a, { n: 1 });
    await ctx.suspend({ on: "gate", correlationKey: "k" });
  };
  /** The same flow with one line changed. */
  const changed = (
    change: (
      ctx: ExecutionContext,
    ) => Partial<
      Record<"emit" | "stream" | "set" | "now" | "uuid" | "decide" | "sleep" | "gate", () => unknown>
    >,
  ): Body => {
    return async (ctx, { a }) => {
      const by = change(ctx);
      if (by.emit) by.emit();
      else ctx.emit("begun", { n: 1 });
      if (by.stream) by.stream();
      else ctx.stream("words", "one");
      if (by.set) by.set();
      else ctx.ui.on("board").set("key", 1);
      if (by.now) by.now();
      else ctx.now();
      if (by.uuid) by.uuid();
      else ctx.uuid();
      await (by.decide ? by.decide() : ctx.decide("choice", () => "left"));
      await (by.sleep ? by.sleep() : ctx.sleep(5));
      await ctx.run(a, { n: 1 });
      await (by.gate ? by.gate() : ctx.suspend({ on: "gate", correlationKey: "k" }));
    };
  };
  const CASES: readonly [string, Body, string][] = [
    [
      "an event with another payload",
      changed((ctx) => ({ emit: () => ctx.emit("begun", { n: 2 }) })),
      "They differ at payload.n",
    ],
    [
      "an event left out",
      changed(() => ({ emit: () => {} })),
      "the log has event begun, the code attempted event words",
    ],
    [
      "a stream that ends",
      changed((ctx) => ({ stream: () => ctx.stream("words", "one", true) })),
      "They differ at done",
    ],
    [
      "another piece of a stream",
      changed((ctx) => ({ stream: () => ctx.stream("words", "two") })),
      "They differ at delta",
    ],
    [
      "a patch of another surface",
      changed((ctx) => ({ set: () => ctx.ui.set("key", 1) })),
      "They differ at surface",
    ],
    [
      "a patch of another operation",
      changed((ctx) => ({ set: () => ctx.ui.on("board").append("key", 1) })),
      "They differ at operation",
    ],
    [
      "another patch",
      changed((ctx) => ({ set: () => ctx.ui.on("board").set("key", 2) })),
      "They differ at value",
    ],
    [
      "random() instead of now()",
      changed((ctx) => ({ now: () => ctx.random() })),
      "the log has ctx.now(), the code attempted ctx.random()",
    ],
    [
      "uuid() left out",
      changed(() => ({ uuid: () => {} })),
      "the log has ctx.uuid(), but the flow waits for something else",
    ],
    [
      "a decision left out",
      changed(() => ({ decide: () => {} })),
      "the log has DECISION_RECORDED choice, the code attempted a sleep",
    ],
    [
      "a decision of another name",
      changed((ctx) => ({ decide: () => ctx.decide("other", () => 1) })),
      "the log has DECISION_RECORDED choice, but the flow waits",
    ],
    [
      "a sleep turned into a gate of its name",
      changed((ctx) => ({ sleep: () => ctx.suspend({ on: "sleep" }) })),
      "They differ at kind",
    ],
    [
      "a gate with another key",
      changed((ctx) => ({ gate: () => ctx.suspend({ on: "gate", correlationKey: "other" }) })),
      "They differ at correlationKey",
    ],
    [
      "a gate without its key",
      changed((ctx) => ({ gate: () => ctx.suspend({ on: "gate" }) })),
      "They differ at correlationKey",
    ],
  ];

  test("an unchanged flow goes on", async () => {
    const world = World.memory();
    let process = await world.open([flowOf(world, full)]);
    await world.until((await process.start(flowOf(world, full), null)).waitForSuspend());
    process = await world.restart([
      flowOf(
        world,
        changed(() => ({})),
      ),
    ]);
    expect((await process.finish("x", { gate: 1 })).status).toBe("completed");
  });

  test.each(CASES)("%s", async (_, body, says) => {
    const world = World.memory();
    let process = await world.open([flowOf(world, full)]);
    await world.until((await process.start(flowOf(world, full), null)).waitForSuspend());
    const before = await world.events();
    process = await world.restart([flowOf(world, body)]);
    const refused = await world.until(
      process.runtime.resume("x", { eventType: "gate" }).catch((error: Error) => error.message),
    );
    expect(refused).toContain(says);
    expect(await world.events()).toEqual(before);
  });
});

describe("C-REP-01: what was set aside", () => {
  async function setAside(world: World) {
    const started = await world.open([flowOf(world, original)]);
    await world.until((await started.start(flowOf(world, original), null)).waitForSuspend());
    const process = await world.restart([flowOf(world, CHANGES[0]!.body)]);
    await expect(world.until(process.runtime.resume("x", { eventType: "gate" }))).rejects.toMatchObject({
      code: "EXECUTION_SET_ASIDE",
    });
    return process;
  }

  test("C-LIF-02: stops no other execution", async () => {
    const world = World.memory();
    const healthy = flow("healthy", async (ctx) => ctx.suspend({ on: "gate" }));
    await setAside(world);
    const process = await world.restart([flowOf(world, CHANGES[0]!.body), healthy]);
    await process.start(healthy, null, "y");
    expect(await process.finish("y", { gate: 7 })).toMatchObject({
      status: "completed",
      variables: { _output: 7 },
    });
    expect((await process.runtime.list({ status: "setAside" })).map(({ id }) => id)).toEqual(["x"]);
  });

  test("can be ended by force, and by no other cancel: its flow cannot hear of it", async () => {
    const world = World.memory();
    const process = await setAside(world);
    await expect(world.until(process.runtime.cancel("x"))).rejects.toMatchObject({
      code: "EXECUTION_SET_ASIDE",
    });
    await world.until(process.runtime.cancel("x", "no longer wanted", { force: true }));
    expect(await process.runtime.loadState("x")).toMatchObject({
      status: "cancelled",
      reason: "no longer wanted",
    });
    expect((await world.types()).at(-1)).toBe("EXECUTION_CANCELLED");
    expect(await process.runtime.list({ status: "setAside" })).toEqual([]);
  });

  test("keeps its timers: they fire once the code is back, also those that came due meanwhile", async () => {
    const world = World.memory();
    const sleeping: Body = async (ctx, { a }) => {
      await ctx.run(a, { n: 1 });
      await ctx.sleep(60_000);
      return "woken";
    };
    let process = await world.open([flowOf(world, sleeping)]);
    await process.start(flowOf(world, sleeping), null);
    await world.pass(1_000);
    process = await world.restart([flowOf(world, CHANGES[0]!.body)]);
    await world.pass(120_000);
    expect((await process.runtime.list({ status: "setAside" })).map(({ id }) => id)).toEqual(["x"]);
    process = await world.restart([flowOf(world, sleeping)]);
    await world.settle();
    expect(await process.finish("x")).toMatchObject({ status: "completed", variables: { _output: "woken" } });
  });

  test("waits for the flow too: unknown at first, it goes on when the flow is registered", async () => {
    const world = World.memory();
    const started = await world.open([flowOf(world, original)]);
    await world.until((await started.start(flowOf(world, original), null)).waitForSuspend());
    const process = await world.restart([]);
    await world.settle();
    const [header] = await process.runtime.list({ status: "setAside" });
    expect(header?.aside).toMatchObject({
      code: "FLOW_UNKNOWN",
      message: "Flow f is not registered. Register it to go on.",
    });
    await expect(world.until(process.runtime.resume("x", { eventType: "gate" }))).rejects.toMatchObject({
      code: "EXECUTION_SET_ASIDE",
      details: { reason: "FLOW_UNKNOWN" },
    });
    process.register([flowOf(world, original)]);
    expect(await process.finish("x", { gate: 1 })).toMatchObject({ status: "completed" });
    expect(world.ran("a")).toBe(1);
  });

  test("under another version of its flow it waits for its own", async () => {
    const world = World.memory();
    const started = await world.open([flowOf(world, original)]);
    await world.until((await started.start(flowOf(world, original), null)).waitForSuspend());
    const process = await world.restart([flow("f", async () => 1, { version: "2" })]);
    await world.settle();
    const [header] = await process.runtime.list({ status: "setAside" });
    expect(header?.aside?.message).toBe(
      "It started with version 1 of flow f; registered: 2. Register version 1 to go on.",
    );
  });
});
