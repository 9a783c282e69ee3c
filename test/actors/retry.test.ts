import { describe, expect, test } from "vitest";
import { retryDelay } from "../../src/actors/retry.js";
import { HeddleError, type RetryPolicy, type StepHandlerContext } from "../../src/kernel/index.js";
import { flow, World } from "../support/world.js";

/** After so many failures, the last of which says `hint` of itself. */
function delayOf(
  retry: RetryPolicy | undefined,
  failures: number,
  hint: { readonly retryAfterMs?: number; readonly retryInMs?: number; readonly retryable?: boolean } = {},
): number | undefined {
  const task = { id: "s", ...(retry && { retry }) };
  const failed = { kind: "failed", error: undefined, retryable: true, ...hint } as const;
  return retryDelay({ task, failures: failures - 1 }, failed, "x/s");
}

describe("the delay before the next attempt", () => {
  test.each([
    ["no policy: none", undefined, [undefined, undefined]],
    ["an empty policy: none", {}, [undefined]],
    ["five attempts by default double from 200 ms", { maxAttempts: 5 }, [200, 400, 800, 1_600, undefined]],
    [
      "a longest delay",
      { maxAttempts: 6, baseDelayMs: 10_000 },
      [10_000, 20_000, 30_000, 30_000, 30_000, undefined],
    ],
    ["a factor", { maxAttempts: 4, baseDelayMs: 100, factor: 3 }, [100, 300, 900, undefined]],
    ["a factor of one", { maxAttempts: 4, baseDelayMs: 100, factor: 1 }, [100, 100, 100, undefined]],
    ["no delay", { maxAttempts: 3, baseDelayMs: 0 }, [0, 0, undefined]],
    ["what no builder checked: attempts", { maxAttempts: Number.NaN }, [undefined]],
    ["what no builder checked: delay", { maxAttempts: 3, baseDelayMs: Number.NaN }, [0, 0, undefined]],
    ["what no builder checked: a negative delay", { maxAttempts: 3, baseDelayMs: -5 }, [0, 0, undefined]],
  ])("%s", (_, policy, delays) => {
    expect(delays.map((__, index) => delayOf(policy, index + 1))).toEqual(delays);
  });

  test("stays a time after a thousand failures", () => {
    expect(delayOf({ maxAttempts: 5_000 }, 2_000)).toBe(30_000);
    expect(delayOf({ maxAttempts: 5_000, baseDelayMs: 0 }, 2_000)).toBe(0);
  });
});

describe("a failure that says something of its retry (C-EFF-06)", () => {
  test("is not tried again before it says so, and later when the policy says so", () => {
    expect(delayOf({ maxAttempts: 3 }, 1, { retryAfterMs: 30_000 })).toBe(30_000);
    expect(delayOf({ maxAttempts: 3, maxDelayMs: 1_000 }, 1, { retryAfterMs: 30_000 })).toBe(30_000);
    expect(
      delayOf({ maxAttempts: 3, baseDelayMs: 50_000, maxDelayMs: 60_000 }, 1, { retryAfterMs: 30 }),
    ).toBe(50_000);
  });

  test("is not tried again at all when it says no, or when the policy has no attempt left", () => {
    expect(delayOf({ maxAttempts: 3 }, 1, { retryable: false })).toBeUndefined();
    expect(delayOf({ maxAttempts: 3 }, 3, { retryAfterMs: 5 })).toBeUndefined();
  });

  test("is tried again when a middleware asked for it, whatever the policy says", () => {
    expect(delayOf(undefined, 7, { retryInMs: 40 })).toBe(40);
  });
});

describe("jitter", () => {
  const policy: RetryPolicy = { maxAttempts: 9, baseDelayMs: 1_000, factor: 1, jitter: true };
  const delays = (seed: string): (number | undefined)[] =>
    [1, 2, 3, 4, 5].map((n) =>
      retryDelay(
        { task: { id: "s", retry: policy }, failures: n - 1 },
        { kind: "failed", error: undefined, retryable: true },
        seed,
      ),
    );

  test("takes off up to half, differs between executions and attempts, and is the same each time", () => {
    for (const delay of [...delays("a/s"), ...delays("b/s")]) {
      expect(delay).toBeGreaterThanOrEqual(500);
      expect(delay).toBeLessThanOrEqual(1_000);
    }
    expect(new Set(delays("a/s")).size).toBeGreaterThan(3);
    expect(delays("a/s")).not.toEqual(delays("b/s"));
    expect(delays("a/s")).toEqual(delays("a/s"));
  });
});

interface Attempt {
  readonly at: number;
  readonly attempt: number;
  readonly key: string;
}

function flaky(
  world: World,
  failures: number,
  retry: object,
  fail: (attempt: number) => unknown = (n) => new Error(`attempt ${n}`),
) {
  const attempts: Attempt[] = [];
  const step = world.step(
    "flaky",
    async (_input, { attempt, idempotencyKey }: StepHandlerContext) => {
      attempts.push({ at: world.clock.now, attempt, key: idempotencyKey });
      await null;
      if (attempts.length <= failures) throw fail(attempts.length);
      return "done";
    },
    { retry },
  );
  const f = flow("f", async (ctx) => ctx.run(step, 1));
  return { f, attempts };
}

describe("retries", () => {
  test.each([10_000, 0])(
    "attempts are recorded, the backoff is exact, the key stays the same. Resident: %i",
    async (maxResident) => {
      const world = World.memory();
      const begun = world.clock.now;
      const { f, attempts } = flaky(world, 3, {
        maxAttempts: 5,
        baseDelayMs: 1_000,
        factor: 4,
        maxDelayMs: 10_000,
      });
      const process = await world.open([f], { maxResident });
      await process.start(f, null);
      const state = await process.finish("x");
      expect(attempts.map(({ at }) => at - begun)).toEqual([0, 1_000, 5_000, 15_000]);
      expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
      expect(new Set(attempts.map(({ key }) => key))).toEqual(new Set(["x/flaky"]));
      expect(state.frames["flaky"]).toMatchObject({
        status: "completed",
        attempts: 4,
        startedAt: begun,
        endedAt: begun + 15_000,
      });
      const retried = (await world.events()).filter(({ type }) => type === "STEP_RETRIED");
      expect(retried.map(({ payload }) => payload)).toMatchObject([
        {
          stepId: "flaky",
          attempt: 2,
          reason: "failed",
          dueAt: begun + 1_000,
          error: { message: "attempt 1" },
        },
        {
          stepId: "flaky",
          attempt: 3,
          reason: "failed",
          dueAt: begun + 5_000,
          error: { message: "attempt 2" },
        },
        {
          stepId: "flaky",
          attempt: 4,
          reason: "failed",
          dueAt: begun + 15_000,
          error: { message: "attempt 3" },
        },
      ]);
    },
  );

  test("after the last attempt the flow gets the last failure", async () => {
    const world = World.memory();
    const { f, attempts } = flaky(world, 9, { maxAttempts: 3 });
    const process = await world.open([f]);
    await process.start(f, null);
    expect(await process.finish("x")).toMatchObject({ status: "failed", error: { message: "attempt 3" } });
    expect(attempts.length).toBe(3);
  });

  test("a restart during a wait goes on with the count and the due time", async () => {
    const world = World.memory();
    const begun = world.clock.now;
    const { f, attempts } = flaky(world, 4, { maxAttempts: 6, baseDelayMs: 1_000, factor: 2 });
    let process = await world.open([f]);
    await process.start(f, null);
    for (const at of [500, 2_000, 5_000]) {
      await world.pass(begun + at - world.clock.now);
      process = await world.restart([f]);
    }
    const state = await process.finish("x");
    expect(attempts.map(({ at }) => at - begun)).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
    expect(state.frames["flaky"]?.attempts).toBe(5);
  });

  test("C-LIF-01: an attempt that a crash cut short has another number, and is no failure", async () => {
    const world = World.memory();
    const attempts: number[] = [];
    const step = world.step(
      "step",
      async (_input, { attempt }) => {
        attempts.push(attempt);
        await world.delay(100);
        if (attempts.length > 3) throw new Error(`attempt ${attempt}`);
      },
      { retry: { maxAttempts: 2, baseDelayMs: 10 } },
    );
    const f = flow("f", async (ctx) => ctx.run(step, 1));
    let process = await world.open([f]);
    await process.start(f, null);
    for (let i = 0; i < 3; i++) {
      await world.when(() => attempts.length === i + 1);
      process = await world.restart([f]);
    }
    const state = await process.finish("x");
    // Three cut short, then two that failed: the policy's two attempts.
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
    expect(state).toMatchObject({ status: "failed", error: { message: "attempt 5" } });
  });

  test.each([
    ["a heddle error that says so", () => new HeddleError("INPUT_INVALID", "no")],
    ["a failure of its output", undefined],
  ])("C-EFF-05, C-EFF-06: %s is not tried again", async (_, make) => {
    const world = World.memory();
    const step = world.step(
      "step",
      () => {
        if (make) throw make();
        return () => {};
      },
      { retry: { maxAttempts: 5 } },
    );
    const f = flow("f", async (ctx) => ctx.run(step, 1));
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).status).toBe("failed");
    expect(world.ran("step")).toBe(1);
  });

  test("a retryable heddle error is tried again", async () => {
    const world = World.memory();
    const { f, attempts } = flaky(
      world,
      2,
      { maxAttempts: 5 },
      () => new HeddleError("STORAGE_FAILED", "busy"),
    );
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).status).toBe("completed");
    expect(attempts.length).toBe(3);
  });

  test("cancelling while a step waits for its next attempt means no further attempt", async () => {
    const world = World.memory();
    const { f, attempts } = flaky(world, 9, { maxAttempts: 9, baseDelayMs: 60_000, maxDelayMs: 60_000 });
    const process = await world.open([f]);
    await process.start(f, null);
    await world.pass(10_000);
    await world.until(process.runtime.cancel("x"));
    await world.pass(1_000_000);
    expect(attempts.length).toBe(1);
    expect(await process.store.timers()).toEqual([]);
    expect((await world.types()).at(-1)).toBe("EXECUTION_CANCELLED");
  });

  test("siblings are not held up by one that waits for its next attempt", async () => {
    const world = World.memory();
    const { f: _, attempts } = flaky(world, 0, {});
    const slow = world.step(
      "slow",
      (__, { attempt }) => {
        if (attempt < 3) throw new Error("no");
        return "slow";
      },
      { retry: { maxAttempts: 3, baseDelayMs: 1_000 } },
    );
    const quick = world.step("quick", () => "quick");
    const order: string[] = [];
    const f = flow("f", async (ctx) => {
      const note = (of: string) => void order.push(of);
      await Promise.all([ctx.run(slow, 1).then(note), ctx.run(quick, 1).then(note)]);
      return order;
    });
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toEqual(["quick", "slow"]);
    expect(attempts).toEqual([]);
  });
});

describe("timeoutMs", () => {
  test("an attempt over its time is aborted and counted, a late result is dropped, and the retry may succeed", async () => {
    const world = World.memory();
    const begun = world.clock.now;
    const aborted: unknown[] = [];
    const step = world.step(
      "step",
      async (_input, { attempt, signal }) => {
        signal.addEventListener("abort", () =>
          aborted.push([attempt, world.clock.now - begun, (signal.reason as HeddleError).code]),
        );
        await world.delay(attempt === 1 ? 500 : 50);
        return `attempt ${attempt}`;
      },
      { timeoutMs: 100, retry: { maxAttempts: 2, baseDelayMs: 1_000 } },
    );
    const f = flow("f", async (ctx) => ctx.run(step, 1));
    const process = await world.open([f]);
    await process.start(f, null);
    const state = await process.finish("x");
    await world.pass(10_000);
    expect(state.variables["_output"]).toBe("attempt 2");
    expect(aborted).toEqual([[1, 100, "EFFECT_TIMED_OUT"]]);
    expect((await world.types()).filter((type) => type === "STEP_COMPLETED").length).toBe(1);
    expect((await world.events()).find(({ type }) => type === "STEP_RETRIED")?.payload).toMatchObject({
      dueAt: begun + 1_100,
      error: { code: "EFFECT_TIMED_OUT" },
    });
  });

  test("without a retry the flow gets EFFECT_TIMED_OUT", async () => {
    const world = World.memory();
    const step = world.step("step", () => world.delay(1_000_000), { timeoutMs: 100 });
    const f = flow("f", async (ctx) =>
      ctx.run(step, 1).catch((error: HeddleError) => `${error.code} ${error.message}`),
    );
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe(
      "EFFECT_TIMED_OUT Step step ran longer than 100 ms (attempt 1).",
    );
  });

  test("C-SUS-04: a time of 30 days is 30 days", async () => {
    const world = World.memory();
    const days = 24 * 3_600_000;
    const begun = world.clock.now;
    const step = world.step(
      "step",
      () => world.delay(29 * days - 2 ** 31).then(() => world.delay(2 ** 31 - 1)),
      { timeoutMs: 30 * days },
    );
    const f = flow("f", async (ctx) => {
      await ctx.run(step, 1);
      return ctx.now() - begun;
    });
    const process = await world.open([f]);
    await process.start(f, null);
    expect(await process.finish("x")).toMatchObject({
      status: "completed",
      variables: { _output: 29 * days - 1 },
    });
  });
});
