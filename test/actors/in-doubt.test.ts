import { describe, expect, it } from "vitest";
import type { InDoubtVerdict } from "../../src/actors/index.js";
import { flow, type Process, World } from "../support/world.js";

/** A flow around one step that may not run twice, its effect under way for as long as the test wants. */
function transfer(world: World, retry = {}) {
  const step = world.step<unknown, unknown>("pay", () => new Promise(() => {}), {
    idempotent: false,
    ...retry,
  });
  return flow("f", async (ctx) => {
    try {
      return { paid: await ctx.run(step, 7) };
    } catch (error) {
      return { failed: (error as Error).message };
    }
  });
}

/** The execution, its process killed while the effect ran, taken up by another. */
async function cutShort(world = World.memory(), retry = {}) {
  const f = transfer(world, retry);
  const first = await world.open([f]);
  await first.start(f, null);
  await world.when(() => world.ran("pay") === 1);
  const process = await world.restart([f]);
  await world.settle();
  return { world, f, process };
}

const decide = (world: World, process: Process, verdict: InDoubtVerdict, stepId = "pay"): Promise<void> =>
  world.until(process.runtime.resolveInDoubt("x", stepId, verdict));

describe("a step that may not run twice, cut short by a kill (C-LIF-01)", () => {
  it("does not run again: the execution parks, and says so", async () => {
    const { world, process } = await cutShort();
    expect(world.ran("pay")).toBe(1);
    const state = await world.until(process.runtime.handle("x").waitForSuspend());
    expect(state).toMatchObject({ status: "suspended", frames: { pay: { status: "inDoubt", attempts: 1 } } });
    expect((await world.types()).at(-1)).toBe("EFFECT_INDOUBT");
  });

  it("stays parked, and is recorded once, however often the process restarts", async () => {
    const { world, f } = await cutShort();
    for (let i = 0; i < 3; i++) await world.restart([f]);
    await world.settle();
    expect((await world.types()).filter((type) => type === "EFFECT_INDOUBT")).toHaveLength(1);
    expect(world.ran("pay")).toBe(1);
  });

  it("is a suspension to whoever waits for one, also when no process has it in memory", async () => {
    const { world, f } = await cutShort();
    const process = await world.restart([f]);
    await world.settle();
    const state = await world.until(process.runtime.handle("x").waitForSuspend());
    expect(state).toMatchObject({ status: "suspended", frames: { pay: { status: "inDoubt" } } });
    expect((await world.until(process.runtime.handle("x").settled())).status).toBe("suspended");
  });

  it("completes with the outcome somebody found out", async () => {
    const { world, process } = await cutShort();
    await decide(world, process, { outcome: { receipt: 12 } });
    const { variables } = await process.finish("x");
    expect(variables["_output"]).toEqual({ paid: { receipt: 12 } });
    expect(world.ran("pay")).toBe(1);
  });

  it("fails when that is the verdict, and the flow may catch it", async () => {
    const { world, process } = await cutShort();
    await decide(world, process, { fail: new Error("never arrived") });
    expect((await process.finish("x")).variables["_output"]).toEqual({ failed: "never arrived" });
    expect(world.ran("pay")).toBe(1);
  });

  it("runs again when that is the verdict; cut short once more it is in doubt once more", async () => {
    const { world, f, process } = await cutShort();
    await decide(world, process, { retry: true });
    await world.when(() => world.ran("pay") === 2);
    const again = await world.restart([f]);
    const state = await world.until(again.runtime.handle("x").waitForSuspend());
    expect(state.frames["pay"]).toMatchObject({ status: "inDoubt", attempts: 2 });
    expect(world.ran("pay")).toBe(2);
  });

  it("gives the same after a restart between verdict and end as without one", async () => {
    const { world, f, process } = await cutShort();
    await decide(world, process, { outcome: "done" });
    const after = await world.restart([f]);
    expect((await after.finish("x")).variables["_output"]).toEqual({ paid: "done" });
  });

  it("refuses a verdict for a step that waits for none, and for one that nobody knows", async () => {
    const { world, process } = await cutShort();
    await decide(world, process, { outcome: 1 });
    for (const stepId of ["pay", "other"]) {
      await expect(decide(world, process, { retry: true }, stepId)).rejects.toMatchObject({
        code: expect.stringMatching(/STEP_NOT_IN_DOUBT|EXECUTION_ENDED/) as string,
      });
    }
  });

  it("can be cancelled", async () => {
    const { world, process } = await cutShort();
    await world.until(process.runtime.cancel("x", "given up"));
    expect(await process.finish("x")).toMatchObject({ status: "cancelled" });
    await expect(decide(world, process, { retry: true })).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  it("is retried by policy when it failed: then its outcome is known", async () => {
    const world = World.memory();
    const step = world.step(
      "pay",
      () => {
        if (world.ran("pay") === 1) throw new Error("refused");
        return "paid";
      },
      { idempotent: false, retry: { maxAttempts: 2 } },
    );
    const f = flow("f", (ctx) => ctx.run(step, 1));
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("paid");
  });
});

/** Refused at first, and told when to come back. */
function toldToWait(world: World) {
  return world.step(
    "pay",
    (n, { attempt }) => {
      // The first one is due last, so that the index of timers has another order than that of executions.
      if (attempt === 1) throw Object.assign(new Error("refused"), { retryAfterMs: 5_000 - (n as number) });
      return "paid";
    },
    { idempotent: false, retry: { maxAttempts: 2 } },
  );
}

describe("a retry that came due while no process ran", () => {
  it("is no doubt, however many there are: it is known not to have been dispatched", async () => {
    const world = World.memory();
    const step = toldToWait(world);
    const f = flow("f", (ctx, n) => ctx.run(step, n));
    const first = await world.open([f]);
    const ids = Array.from({ length: 2_000 }, (_, n) => `x-${n}`);
    await world.until(Promise.all(ids.map((executionId, n) => first.runtime.start(f, n, { executionId }))));
    await world.settle();
    await first.kill();
    expect((await world.types("x-1999")).at(-1)).toBe("STEP_RETRIED");
    world.clock.jump(10_000);
    const process = await world.open([f]);
    const states = await world.until(Promise.all(ids.map((id) => process.runtime.handle(id).settled())));
    expect(new Set(states.map(({ status }) => status))).toEqual(new Set(["completed"]));
  });
});

describe("an answer that comes while retries that are due are still being taken up", () => {
  it("makes no doubt of them: whether one was dispatched is asked when no timer is due", async () => {
    const world = World.memory();
    const step = toldToWait(world);
    const f = flow(
      "f",
      async (ctx, n) => (await Promise.all([ctx.run(step, n), ctx.suspend({ on: "go" })]))[0],
    );
    const first = await world.open([f]);
    const ids = Array.from({ length: 600 }, (_, n) => `x-${n}`);
    await world.until(Promise.all(ids.map((executionId, n) => first.runtime.start(f, n, { executionId }))));
    await world.settle();
    await first.kill();
    world.clock.jump(10_000);
    const { runtime } = world.prepare([f]);
    const answered = runtime
      .open()
      .then(() => Promise.all(ids.map((id) => runtime.resume(id, { eventType: "go" }))));
    await world.until(answered);
    const states = await world.until(Promise.all(ids.map((id) => runtime.handle(id).settled())));
    expect(new Set(states.map(({ status }) => status))).toEqual(new Set(["completed"]));
    expect(states.every(({ frames }) => frames["pay"]!.attempts === 2)).toBe(true);
  });
});

describe("a retry that came due while its execution was set aside", () => {
  it.each(["the next process", "the same process, later on"])(
    "is made by %s, and leaves no doubt",
    async (who) => {
      const world = World.memory();
      const pay = world.step(
        "pay",
        (_input, { attempt }) => {
          if (attempt === 1) throw new Error("refused");
          return "paid";
        },
        { idempotent: false, retry: { maxAttempts: 2, baseDelayMs: 5_000 } },
      );
      const f = flow("f", (ctx) => ctx.run(pay, 1));
      await (await world.open([f])).start(f, null);
      await world.settle();
      const without = await world.restart([]);
      await world.pass(20_000);
      expect((await without.runtime.list())[0]?.status).toBe("setAside");
      const process = who === "the next process" ? await world.restart([f]) : without;
      process.register([f]);
      await world.when(() => world.ran("pay") === 2);
      const state = await world.until(process.runtime.handle("x").waitForCompletion());
      expect(state.frames["pay"]).toMatchObject({ status: "completed", attempts: 2 });
      expect(await process.store.timers()).toEqual([]);
    },
  );
});

describe("beside other steps", () => {
  it("keeps the execution running until they are done, and their results", async () => {
    const world = World.memory();
    const pay = world.step("pay", () => new Promise(() => {}), { idempotent: false });
    const look = world.step("look", async () => {
      await world.delay(1_000);
      return "seen";
    });
    const f = flow("f", (ctx) => Promise.all([ctx.run(pay, 1), ctx.run(look, 2)]));
    const first = await world.open([f]);
    await first.start(f, null);
    await world.when(() => world.ran("look") === 1);
    const process = await world.restart([f]);
    const state = await world.until(process.runtime.handle("x").waitForSuspend());
    expect(state.frames).toMatchObject({ pay: { status: "inDoubt" }, look: { status: "completed" } });
    await decide(world, process, { outcome: "paid" });
    expect((await process.finish("x")).variables["_output"]).toEqual(["paid", "seen"]);
    expect([world.ran("pay"), world.ran("look")]).toEqual([1, 2]);
  });
});
