// C-SUS-06 and C-CHD-02 for steps: a cancel stops what is under way, the flow hears of it once, and may clean up durably.

import { describe, expect, test } from "vitest";
import type { ExecutionContext } from "../../src/kernel/index.js";
import { codeOf, flow, unhandledRejections, untilAborted, World } from "../support/world.js";

/** Both ways an execution may live between two turns. */
const RESIDENT = [10_000, 0];

describe.each(RESIDENT)("C-SUS-06: cancelling, resident: %i", (maxResident) => {
  test("everything the flow waits for rejects with CANCELLED, and it ends in the same pass", async () => {
    const rejections = unhandledRejections();
    const world = World.memory();
    const heard: string[] = [];
    const slow = world.step("slow", () => new Promise(() => {}));
    const f = flow("f", async (ctx) => {
      const waits = {
        step: ctx.run(slow, 1),
        gate: ctx.suspend({ on: "never" }),
        timed: ctx.suspend({ on: "timed", timeout: 1_000_000 }),
        sleep: ctx.sleep(1_000_000),
        decision: ctx.decide("d", () => new Promise(() => {})),
        parallel: ctx.parallel([async () => ctx.sleep(5)]),
        race: Promise.race([ctx.sleep(9), ctx.suspend({ on: "other" })]),
      };
      await Promise.allSettled(
        Object.entries(waits).map(async ([name, wait]) =>
          wait.catch((error: unknown) => heard.push(`${name} ${codeOf(error)}`)),
        ),
      );
    });
    const process = await world.open([f], { maxResident });
    await process.start(f, null);
    await world.when(() => world.ran("slow") === 1);
    heard.length = 0;
    await world.until(process.runtime.cancel("x", "enough"));
    expect(heard.sort()).toEqual(
      ["decision", "gate", "parallel", "race", "sleep", "step", "timed"].map((name) => `${name} CANCELLED`),
    );
    const state = await process.runtime.loadState("x");
    expect(state).toMatchObject({ status: "cancelled", reason: "enough" });
    expect(state.frames["slow"]).toMatchObject({ status: "cancelled" });
    expect(Object.values(state.gates).every(({ status }) => status === "cancelled")).toBe(true);
    expect(await process.store.timers()).toEqual([]);
    expect(rejections).toEqual([]);
    const { header, last } = await ends(world);
    expect(last.slice(-2)).toEqual(["CANCEL_REQUESTED", "EXECUTION_CANCELLED"]);
    expect(header).toBe("cancelled");
  });

  test("the flow is told once: calls outside a shield reject from then on, those inside run to their end", async () => {
    const world = World.memory();
    const seen: unknown[] = [];
    const slow = world.step("slow", () => new Promise(() => {}));
    const undo = world.step<string, string>("undo", async (text) => {
      await world.delay(100);
      return `${text} undone`;
    });
    const never = world.step("never", () => "ran");
    const f = flow("f", async (ctx) => {
      try {
        await ctx.run(slow, 1);
      } catch (error) {
        seen.push(codeOf(error));
        const calls: Record<string, (ctx: ExecutionContext) => Promise<unknown>> = {
          run: (c) => c.run(never, 1),
          sleep: (c) => c.sleep(1),
          suspend: (c) => c.suspend({ on: "never" }),
          decide: (c) => c.decide("no", () => 1),
          parallel: (c) => c.parallel([[never, 1]]),
        };
        for (const [name, call] of Object.entries(calls))
          await call(ctx).catch((refused: unknown) => seen.push(`${name} ${codeOf(refused)}`));
        ctx.emit("Undoing", { at: "once" });
        seen.push(
          await ctx.shield(async (shielded) => {
            await shielded.sleep(1_000);
            const said = await shielded.suspend<string>({ on: "agreed", timeout: 60_000 });
            const chosen = await shielded.decide("how", () => "gently");
            return [await shielded.run(undo, said), chosen];
          }),
        );
        await ctx
          .shield((shielded) => shielded.suspend({ on: "nobody", timeout: 10 }))
          .catch((late: unknown) => seen.push(codeOf(late)));
      }
      return "the flow's own result";
    });
    const process = await world.open([f], { maxResident });
    await process.start(f, null);
    await world.when(() => world.ran("slow") === 1);
    await world.until(process.runtime.cancel("x", "enough"));
    seen.length = 0; // a run that is dropped between turns begins again from the top
    const cleaning = await process.runtime.loadState("x");
    expect(cleaning).toMatchObject({ status: "suspended", cancelling: { reason: "enough" } });
    const state = await process.finish("x", { agreed: "order" });
    expect(state).toMatchObject({
      status: "cancelled",
      reason: "enough",
      frames: { undo: { status: "completed" } },
    });
    expect(state).not.toHaveProperty("cancelling");
    expect(state).not.toHaveProperty("error");
    expect(world.ran("never")).toBe(0);
    expect(seen.slice(-2)).toEqual([["order undone", "gently"], "GATE_TIMED_OUT"]);
    expect(await process.store.timers()).toEqual([]);
  });

  test("a shield that is open when the cancel comes goes on, and what comes after it rejects", async () => {
    const world = World.memory();
    const trail: string[] = [];
    const charge = world.step("charge", async () => {
      await world.delay(1_000);
      return "charged";
    });
    const book = world.step<string, string>("book", (text) => `${text}, booked`);
    const ship = world.step("ship", () => "shipped");
    const f = flow("f", async (ctx) => {
      trail.push(await ctx.shield(async (shielded) => shielded.run(book, await shielded.run(charge, 1))));
      trail.push(await ctx.run(ship, 1));
    });
    const process = await world.open([f], { maxResident });
    await process.start(f, null);
    await world.when(() => world.ran("charge") === 1);
    await world.until(process.runtime.cancel("x"));
    expect((await process.finish("x")).status).toBe("cancelled");
    expect(trail).toEqual(["charged, booked"]);
    expect([world.ran("charge"), world.ran("book"), world.ran("ship")]).toEqual([1, 1, 0]);
  });

  test("between attempts: no further attempt, and the timer is gone", async () => {
    const world = World.memory();
    const flaky = world.step(
      "flaky",
      () => {
        throw new Error("no");
      },
      { retry: { maxAttempts: 9, baseDelayMs: 60_000, maxDelayMs: 60_000 } },
    );
    const f = flow("f", (ctx) => ctx.run(flaky, 1));
    const process = await world.open([f], { maxResident });
    await process.start(f, null);
    await world.pass(10);
    await world.until(process.runtime.cancel("x"));
    await world.pass(1_000_000);
    expect(world.ran("flaky")).toBe(1);
    expect(await process.store.timers()).toEqual([]);
    expect((await world.types()).at(-1)).toBe("EXECUTION_CANCELLED");
  });

  test.each(["completes", "throws"])(
    "an attempt that ignores the abort and %s afterwards is late: no retry, and nothing revived",
    async (how) => {
      const world = World.memory();
      const deaf = world.step(
        "deaf",
        async () => {
          await world.delay(5_000);
          if (how === "throws") throw new RangeError("too late to matter");
          return "done";
        },
        { retry: { maxAttempts: 5 } },
      );
      const f = flow("f", (ctx) => ctx.run(deaf, 1));
      const process = await world.open([f], { maxResident });
      await process.start(f, null);
      await world.when(() => world.ran("deaf") === 1);
      await world.until(process.runtime.cancel("x", "enough"));
      expect((await process.runtime.loadState("x")).status).toBe("cancelled");
      await world.pass(1_000_000);
      const state = await process.runtime.loadState("x");
      expect(state).toMatchObject({
        status: "cancelled",
        reason: "enough",
        frames: { deaf: { status: "cancelled" } },
      });
      expect(state.frames["deaf"]!.late).toEqual([
        how === "throws"
          ? {
              issue: 1,
              attempt: 1,
              kind: "failed",
              error: new RangeError("too late to matter"),
              at: expect.any(Number) as number,
            }
          : { issue: 1, attempt: 1, kind: "completed", at: expect.any(Number) as number },
      ]);
      expect(world.ran("deaf")).toBe(1);
      expect((await world.types()).slice(-3)).toEqual([
        "CANCEL_REQUESTED",
        "EXECUTION_CANCELLED",
        "OUTCOME_LATE",
      ]);
    },
  );

  test("an attempt that stops because it was told to leaves nothing to record", async () => {
    const world = World.memory();
    const obedient = world.step("obedient", (_input, { signal }) => untilAborted(signal));
    const f = flow("f", (ctx) => ctx.run(obedient, 1));
    const process = await world.open([f], { maxResident });
    await process.start(f, null);
    await world.when(() => world.ran("obedient") === 1);
    await world.until(process.runtime.cancel("x"));
    await world.pass(1_000);
    expect((await world.types()).at(-1)).toBe("EXECUTION_CANCELLED");
  });

  test("cancelling again, together, afterwards and during cleanup, gives one outcome and the first reason", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      try {
        await ctx.suspend({ on: "never" });
      } finally {
        await ctx.shield((shielded) => shielded.sleep(10_000));
      }
    });
    const process = await world.open([f], { maxResident });
    await world.until((await process.start(f, null)).waitForSuspend());
    await world.until(Promise.all(["first", "second"].map((why) => process.runtime.cancel("x", why))));
    await world.pass(5_000);
    await world.until(process.runtime.cancel("x", "during cleanup"));
    expect(await process.finish("x")).toMatchObject({ status: "cancelled", reason: "first" });
    await world.until(process.runtime.cancel("x", "afterwards"));
    const types = await world.types();
    expect(types.filter((type) => type.includes("CANCEL"))).toEqual([
      "CANCEL_REQUESTED",
      "EXECUTION_CANCELLED",
    ]);
  });

  test("a failure of the cleanup is shown beside the reason", async () => {
    const world = World.memory();
    const undo = world.step("undo", () => {
      throw new RangeError("nothing to undo");
    });
    const f = flow("f", async (ctx) => {
      try {
        await ctx.suspend({ on: "never" });
      } finally {
        await ctx.shield((shielded) => shielded.run(undo, 1));
      }
    });
    const process = await world.open([f], { maxResident });
    await world.until((await process.start(f, null)).waitForSuspend());
    await world.until(process.runtime.cancel("x", "enough"));
    const state = await process.finish("x");
    expect(state).toMatchObject({ status: "cancelled", reason: "enough" });
    expect(state.error).toEqual(new RangeError("nothing to undo"));
    await expect(world.until(process.runtime.handle("x").result())).rejects.toMatchObject({
      code: "EXECUTION_CANCELLED",
    });
  });

  test("by force it ends at once, also in the middle of a cleanup that does not end", async () => {
    const world = World.memory();
    const deaf = world.step("deaf", async () => {
      await world.delay(50);
    });
    const f = flow("f", async (ctx) => {
      try {
        await ctx.suspend({ on: "never" });
      } finally {
        await ctx.shield((shielded) =>
          Promise.all([shielded.suspend({ on: "never again" }), shielded.run(deaf, 1)]),
        );
      }
    });
    const process = await world.open([f], { maxResident });
    await world.until((await process.start(f, null)).waitForSuspend());
    await world.until(process.runtime.cancel("x", "enough"));
    await world.until(process.runtime.cancel("x", "really", { force: true }));
    expect(await process.runtime.loadState("x")).toMatchObject({ status: "cancelled", reason: "really" });
    await world.pass(1_000);
    expect((await world.types()).slice(-2)).toEqual(["EXECUTION_CANCELLED", "OUTCOME_LATE"]);
  });

  test("a resume of a gate that the cancel closed is told so, and a shielded gate can be resumed", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      try {
        await ctx.suspend({ on: "gate" });
      } finally {
        await ctx.shield((shielded) => shielded.suspend({ on: "other" }));
      }
    });
    const process = await world.open([f], { maxResident });
    await world.until((await process.start(f, null)).waitForSuspend());
    await world.until(process.runtime.cancel("x", "enough"));
    await expect(world.until(process.runtime.resume("x", { eventType: "gate" }))).rejects.toMatchObject({
      code: "GATE_ALREADY_RESOLVED",
      message: expect.stringContaining("cancellation") as string,
    });
    await world.until(process.runtime.resume("x", { eventType: "other" }));
    expect((await process.finish("x")).status).toBe("cancelled");
  });
});

/** How the execution is filed, and what its log says. */
async function ends(world: World): Promise<{ header: string | undefined; last: string[] }> {
  const [header] = await world.process!.runtime.list();
  return { header: header?.status, last: await world.types() };
}

describe("C-CHD-02 for steps: cancelled at any moment", () => {
  const INSTANTS = 320;

  /** A flow that is never without something under way. */
  function busy(world: World, live: Set<string>) {
    const work = (id: string, ms: number, options = {}) =>
      world.step<unknown, unknown>(
        id,
        async (_input, { signal, attempt }) => {
          const name = `${id} ${attempt}`;
          live.add(name);
          signal.addEventListener("abort", () => live.delete(name), { once: true });
          await world.delay(ms);
          live.delete(name);
          if (id === "flaky" && attempt < 4) throw new Error("again");
          return id;
        },
        options,
      );
    const flaky = work("flaky", 3, { retry: { maxAttempts: 4, baseDelayMs: 10 } });
    const timed = work("timed", 40, { timeoutMs: 15, retry: { maxAttempts: 2, baseDelayMs: 10 } });
    const bounded = work("bounded", 60, { deadlineMs: 30 });
    const undo = work("undo", 12);
    return flow("busy", async (ctx) => {
      try {
        const bundle = Array.from({ length: 4 }, (_, i) => work(`s${i}`, 7 * i));
        await ctx.parallel([
          ...bundle.map((step) => () => ctx.run(step, 1)),
          () => ctx.run(flaky, 1),
          () => ctx.run(timed, 1).catch(() => "out of time"),
          () => ctx.run(bounded, 1).catch(() => "too late"),
          async () => {
            await ctx.sleep(20);
            return Promise.race([ctx.run(work("raced", 30), 1), ctx.sleep(5)]);
          },
          () => ctx.shield((shielded) => shielded.run(work("kept", 25), 1)),
        ]);
        return await ctx.run(work("last", 10), 1);
      } finally {
        await ctx.shield((shielded) => shielded.run(undo, 1));
      }
    });
  }

  test.each([10_000, 0])("no live step is left, and one outcome, resident: %i", async (maxResident) => {
    const rejections = unhandledRejections();
    let cancelled = 0;
    for (let instant = 0; instant < INSTANTS; instant++) {
      const world = World.memory();
      const live = new Set<string>();
      const f = busy(world, live);
      const process = await world.open([f], { maxResident });
      const started = process.runtime.start(f, null, { executionId: "x" });
      if (instant > 0) await world.until(started);
      await world.pass((instant * 7) % 160);
      const told = await world.until(process.runtime.cancel("x", "enough").then(() => "ok", codeOf));
      const state = await process.finish("x");
      expect([told, state.status]).toEqual(
        state.status === "cancelled" ? ["ok", "cancelled"] : ["EXECUTION_ENDED", "completed"],
      );
      if (state.status === "cancelled") {
        cancelled++;
        expect([...live], `cancelled at instant ${instant}`).toEqual([]);
      }
      const runs = new Map(world.runs);
      await world.pass(10_000);
      expect(world.runs, "no attempt begins after the end").toEqual(runs);
      expect(await process.store.timers()).toEqual([]);
      const events = await world.events();
      expect(events.every(({ sequence }, index) => sequence === index)).toBe(true);
      expect(events.filter(({ type }) => type.startsWith("EXECUTION_C"))).toHaveLength(1);
      const late = events
        .filter(({ type }) => type === "OUTCOME_LATE")
        .map(({ payload }) => JSON.stringify(payload));
      expect(new Set(late.map((text) => text.replace(/"error".*/, ""))).size).toBe(late.length);
      await process.kill();
    }
    expect(cancelled).toBeGreaterThan(INSTANTS / 2);
    expect(rejections).toEqual([]);
  });
});
