import { describe, expect, it } from "vitest";
import type { EffectContext } from "../../src/effects/index.js";
import { HeddleError, TypedFailure } from "../../src/kernel/index.js";
import { type RetryEvent, type RetryMiddlewareOptions, retryMiddleware } from "../../src/middleware/index.js";
import { flow, unhandledRejections, World } from "../support/world.js";

/** A step that fails so often, under a retry middleware; its attempts by the world's clock. */
async function flaky(
  failures: number,
  options: RetryMiddlewareOptions,
  { fail = (n: number): unknown => new Error(`failure ${n}`), step: retryOfStep = {} } = {},
) {
  const world = World.memory();
  const at: number[] = [];
  const begun = world.clock.now;
  const step = world.step(
    "flaky",
    async () => {
      at.push(world.clock.now - begun);
      if (at.length <= failures) throw fail(at.length);
      return "done";
    },
    retryOfStep,
  );
  const flows = [flow("f", (ctx) => ctx.run(step, 1))];
  const middleware = [retryMiddleware({ jitter: false, ...options })];
  const process = await world.open(flows, { middleware });
  await process.start(flows[0]!, null);
  return { world, at, process, flows, middleware, begun };
}

describe("retryMiddleware in an execution", () => {
  it("makes the attempts its options allow, and records each with its due time", async () => {
    const { world, process, at, begun } = await flaky(3, { maxRetries: 3, baseDelayMs: 1_000 });
    expect(await process.finish("x")).toMatchObject({ status: "completed", variables: { _output: "done" } });
    expect(at).toEqual([0, 1_000, 3_000, 7_000]);
    const retried = (await world.events()).filter(({ type }) => type === "STEP_RETRIED");
    expect(retried.map(({ payload }) => payload)).toMatchObject([
      { attempt: 2, dueAt: begun + 1_000, error: { message: "failure 1" } },
      { attempt: 3, dueAt: begun + 3_000, error: { message: "failure 2" } },
      { attempt: 4, dueAt: begun + 7_000, error: { message: "failure 3" } },
    ]);
  });

  it("C-EFF-06: goes on with count and due time after a restart in the second gap", async () => {
    const first = await flaky(2, { maxRetries: 2, baseDelayMs: 3_000, factor: 1 });
    await first.world.pass(4_500);
    expect(first.at).toEqual([0, 3_000]);
    const process = await first.world.restart(first.flows, { middleware: first.middleware });
    expect(await process.finish("x")).toMatchObject({ status: "completed" });
    expect(first.at).toEqual([0, 3_000, 6_000]);
  });

  it("gives the last failure to the flow when no attempt is left", async () => {
    const { process, at } = await flaky(9, { maxRetries: 2, baseDelayMs: 10 });
    expect(await process.finish("x")).toMatchObject({ status: "failed", error: { message: "failure 3" } });
    expect(at).toHaveLength(3);
  });

  it("C-EFF-06: waits as long as a 429 asks for, by property or by header", async () => {
    const asked = [
      Object.assign(new Error("slow down"), { retryAfterMs: 30_000 }),
      Object.assign(new Error("429"), { status: 429, headers: new Headers({ "retry-after": "30" }) }),
      Object.assign(new Error("429"), { response: { headers: { "retry-after-ms": "30000" } } }),
    ];
    const options = { maxRetries: 3, baseDelayMs: 10 };
    const { process, at } = await flaky(3, options, { fail: (n) => asked[n - 1] });
    expect(await process.finish("x")).toMatchObject({ status: "completed" });
    expect(at).toEqual([0, 30_000, 60_000, 90_000]);
  });

  it.each([
    ["a typed failure", new TypedFailure("drift", {})],
    ["an error that says so", Object.assign(new Error("no"), { retryable: false })],
    ["an error of heddle that trying again cannot mend", new HeddleError("OUTPUT_INVALID", "no")],
  ])("never retries %s", async (_what, failure) => {
    const { process, at } = await flaky(1, {}, { fail: () => failure });
    expect((await process.finish("x")).status).toBe("failed");
    expect(at).toHaveLength(1);
  });

  it("leaves a step with a policy of its own to that: retries do not multiply", async () => {
    const step = { retry: { maxAttempts: 2, baseDelayMs: 5 } };
    const { process, at } = await flaky(9, { maxRetries: 5 }, { step });
    expect((await process.finish("x")).status).toBe("failed");
    expect(at).toHaveLength(2);
  });

  it("asks isRetryable last, and tells onRetry before each retry, whatever that throws", async () => {
    const told: RetryEvent[] = [];
    const { process, at } = await flaky(9, {
      maxRetries: 9,
      baseDelayMs: 100,
      isRetryable: (error) => (error as Error).message !== "failure 3",
      onRetry: (event) => {
        told.push(event);
        throw new Error("of the display");
      },
    });
    expect(await process.finish("x")).toMatchObject({ status: "failed", error: { message: "failure 3" } });
    expect(at).toHaveLength(3);
    expect(told).toMatchObject([
      { executionId: "x", stepId: "flaky", toolId: "flaky", failures: 1, delayMs: 100 },
      { failures: 2, delayMs: 200 },
    ]);
  });

  it("an onRetry that rejects is nobody's unhandled rejection", async () => {
    const unhandled = unhandledRejections();
    const onRetry: () => unknown = () => Promise.reject(new Error("of the display"));
    const { process } = await flaky(1, { onRetry });
    expect((await process.finish("x")).status).toBe("completed");
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  it("waits in place with a sleep of the caller's, and records no retry", async () => {
    const slept: number[] = [];
    const sleep = async (delayMs: number): Promise<void> => void slept.push(delayMs);
    const { world, process } = await flaky(2, { maxRetries: 2, baseDelayMs: 50, sleep });
    expect(await process.finish("x")).toMatchObject({ status: "completed" });
    expect(slept).toEqual([50, 100]);
    expect(await world.types()).not.toContain("STEP_RETRIED");
  });
});

describe("retryMiddleware outside executions", () => {
  const context = (signal: AbortSignal): EffectContext => ({
    executionId: "none",
    workflowId: "none",
    stepId: "none",
    toolId: "tool",
    taskKind: "tool",
    attempt: 1,
    idempotencyKey: "none",
    signal,
    emit: () => {},
    meter: () => {},
  });

  it("waits in place, and stops at once when it is aborted", async () => {
    const controller = new AbortController();
    let calls = 0;
    const retry = retryMiddleware({ maxRetries: 5, baseDelayMs: 60_000 });
    const result = retry(context(controller.signal), 1, async () => {
      calls++;
      throw new Error("down");
    });
    controller.abort(new Error("enough"));
    await expect(result).rejects.toThrow(/enough|down/);
    expect(calls).toBe(1);
  });
});

describe("the options of retryMiddleware", () => {
  it.each([
    ["maxRetries", { maxRetries: -1 }],
    ["baseDelayMs", { baseDelayMs: Number.NaN }],
    ["factor", { factor: 0.5 }],
    ["maxDelayMs", { maxDelayMs: Number.POSITIVE_INFINITY }],
    ["jitter", { jitter: "full" }],
    ["isRetryable", { isRetryable: true }],
    ["onRetry", { onRetry: "log" }],
    ["sleep", { sleep: 5 }],
    ["maxAttempts", { maxAttempts: 3 }],
  ])("a bad %s is refused by name", (option, options) => {
    expect(() => retryMiddleware(options as never)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", details: { option } }),
    );
  });
});
