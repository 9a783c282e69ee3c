// Apps for tests: what a program's own tests are written with, used the way such tests use it.

import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { defineFlow, flow$, handler$, type LoomApp, lmdbStorage, step$ } from "../../src/index.js";
import { surface } from "../../src/surface/index.js";
import {
  advanceTime,
  captureGolden,
  createTestApp,
  driveToSuspend,
  fireDueTimers,
  getSurfaceState,
  type HeddleMatchers,
  heddleMatchers,
  resumeWith,
  type TestAppConfig,
  waitFor,
  waitForPhase,
} from "../../src/testing/index.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

declare module "vitest" {
  // oxlint-disable-next-line typescript/no-explicit-any -- a merged interface repeats the parameters of its other half.
  interface Matchers<T = any> extends HeddleMatchers<T> {}
}

expect.extend(heddleMatchers);

const anything = z.unknown();
const HOUR = 3_600_000;

function open(config: TestAppConfig): LoomApp {
  const app = createTestApp(config);
  onTestFinished(() => app.close());
  return app;
}

const sleeper = defineFlow(
  flow$({ id: "sleeper", version: "1", inputSchema: z.number(), outputSchema: anything }),
  async (ctx, ms) => {
    const before = await ctx.now();
    await ctx.sleep(ms);
    return (await ctx.now()) - before;
  },
);

const approval = defineFlow(
  flow$({ id: "approval", version: "1", inputSchema: anything, outputSchema: anything }),
  async (ctx) => {
    surface(ctx).set("phase", "waiting");
    const answer = await ctx.suspend<{ ok: boolean }>({ on: "Approved", timeout: HOUR });
    surface(ctx).set("phase", "done");
    return answer;
  },
);

describe("createTestApp", () => {
  it("keeps everything in memory and goes by the host's clock", async () => {
    const app = open({ flows: [sleeper] });
    const handle = await app.runtime.start(sleeper, 5);
    expect(await handle.waitForCompletion()).toHaveCompleted();
    const [started] = await captureGolden(app.stores.eventStore, handle.executionId);
    expect(Math.abs(started!.timestamp - Date.now())).toBeLessThan(60_000);
  });

  it("takes a storage", async () => {
    const dir = temporaryDirectory();
    const first = createTestApp({
      flows: [sleeper],
      storage: lmdbStorage({ dir, sync: "commit" }),
      clock: true,
    });
    await first.runtime.start(sleeper, HOUR, { executionId: "nap" });
    await advanceTime(first, HOUR / 2);
    await first.close();
    const second = open({ flows: [sleeper], storage: lmdbStorage({ dir, sync: "commit" }), clock: true });
    await advanceTime(second, HOUR);
    expect(await second.runtime.loadState("nap")).toMatchObject({
      status: "completed",
      variables: { _output: HOUR },
    });
  });

  it("has one clock", () => {
    expect(() => createTestApp({ clock: true, execution: { now: () => 0 } })).toThrow(/execution.now/);
    expect(() => createTestApp({ clock: true, workers: {} })).toThrow(/workers/);
  });

  it("closes at once and at its deadline, although its clock stands still", async () => {
    const stuck = step$({
      id: "stuck",
      inputSchema: anything,
      outputSchema: anything,
      handler: handler$(
        (_, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason as Error)),
          ),
      ),
    });
    const flow = defineFlow(
      flow$({ id: "stuck", version: "1", inputSchema: anything, outputSchema: anything }),
      (ctx) => ctx.run(stuck, {}),
    );
    const app = createTestApp({ flows: [flow], clock: true });
    await app.runtime.start(flow, {});
    const before = performance.now();
    await app.close({ deadlineMs: 50 });
    expect(performance.now() - before).toBeLessThan(5_000);
  });
});

describe("the clock of a test app", () => {
  it("begins at the same time in every test, and stands still", async () => {
    const app = open({ flows: [sleeper], clock: true });
    const handle = await app.runtime.start(sleeper, 1_000);
    await fireDueTimers(app);
    expect(await handle.getState()).toMatchObject({ status: "suspended", startedAt: Date.UTC(2026, 0, 1) });
  });

  it("fires a timer at its time and not before", async () => {
    const app = open({ flows: [sleeper], clock: true });
    const { executionId } = await app.runtime.start(sleeper, 72 * HOUR);
    await advanceTime(app, 72 * HOUR - 1);
    expect(await app.runtime.loadState(executionId)).toMatchObject({ status: "suspended" });
    await advanceTime(app, 1);
    expect(await app.runtime.loadState(executionId)).toMatchObject({
      status: "completed",
      variables: { _output: 72 * HOUR },
    });
  });

  it("does what is due on the way at the time it is due", async () => {
    const naps = defineFlow(
      flow$({ id: "naps", version: "1", inputSchema: anything, outputSchema: anything }),
      async (ctx) => {
        const woke: number[] = [];
        for (let nap = 0; nap < 3; nap++) {
          await ctx.sleep(1_000);
          woke.push((await ctx.now()) - Date.UTC(2026, 0, 1));
        }
        return woke;
      },
    );
    const app = open({ flows: [naps], clock: true });
    const handle = await app.runtime.start(naps, {});
    await advanceTime(app, 10_000);
    expect(await handle.result()).toEqual([1_000, 2_000, 3_000]);
  });

  it("makes attempts when they are due, and ends those that take too long", async () => {
    let attempts = 0;
    const flaky = step$({
      id: "flaky",
      inputSchema: anything,
      outputSchema: anything,
      retry: { maxAttempts: 3, baseDelayMs: 60_000, maxDelayMs: 60_000 },
      timeoutMs: 5_000,
      handler: handler$(() => (++attempts < 3 ? new Promise(() => {}) : attempts)),
    });
    const flow = defineFlow(
      flow$({ id: "flaky", version: "1", inputSchema: anything, outputSchema: anything }),
      (ctx) => ctx.run(flaky, {}),
    );
    const app = open({ flows: [flow], clock: true });
    const handle = await app.runtime.start(flow, {});
    await advanceTime(app, 64_999);
    expect(attempts).toBe(1);
    await advanceTime(app, 1);
    expect(attempts).toBe(2);
    await advanceTime(app, 65_000);
    expect(await handle.waitForCompletion()).toHaveCompleted();
    const log = await captureGolden(app.stores.eventStore, handle.executionId);
    expect(log).not.toHaveRunOnce("flaky");
  });

  it("is asked for, or there is none", async () => {
    const app = open({ flows: [] });
    await expect(advanceTime(app, 1)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(fireDueTimers(app)).rejects.toThrow("createTestApp({ clock: true })");
    const clocked = open({ clock: true });
    for (const time of [-1, Number.NaN, "1" as unknown as number])
      await expect(advanceTime(clocked, time)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("gates and surfaces in a test", () => {
  it("drives an execution to its gate, answers it, and sees its surface", async () => {
    const app = open({ flows: [approval], surfaces: ["mission"] });
    const handle = await app.runtime.start(approval, {});
    const { executionId } = handle;
    const suspended = await driveToSuspend(handle);
    expect(suspended).toBeSuspendedOn("Approved");
    expect(suspended).not.toHaveCompleted();
    await waitForPhase(app.projectionRuntime, "mission", executionId, "waiting");
    await resumeWith(app.runtime, executionId, { payload: { ok: true } });
    await handle.waitForCompletion();
    await waitForPhase(app.projectionRuntime, "mission", executionId, "done");
    expect(getSurfaceState(app.projectionRuntime, "mission", executionId)).toEqual({ phase: "done" });
    const golden = await captureGolden(app.stores.eventStore, executionId);
    expect(golden).toHaveCompleted();
    expect(golden).not.toBeSuspendedOn("Approved");
    expect(golden.map(({ type }) => type)).toContain("Approved");
  });

  it("lets a gate time out", async () => {
    const app = open({ flows: [approval], surfaces: ["mission"], clock: true });
    const handle = await app.runtime.start(approval, {});
    await driveToSuspend(handle);
    await advanceTime(app, HOUR);
    expect(await handle.getState()).toHaveFailed("GATE_TIMED_OUT");
    expect(await captureGolden(app.stores.eventStore, handle.executionId)).toHaveFailed("GATE_TIMED_OUT");
  });

  it("says which gates there are when it is not told which one to answer", async () => {
    const two = defineFlow(
      flow$({ id: "two", version: "1", inputSchema: anything, outputSchema: anything }),
      (ctx) => Promise.all([ctx.suspend({ on: "Left" }), ctx.suspend({ on: "Right" })]),
    );
    const app = open({ flows: [two] });
    const handle = await app.runtime.start(two, {});
    await driveToSuspend(handle);
    await expect(resumeWith(app.runtime, handle.executionId)).rejects.toMatchObject({
      code: "GATE_AMBIGUOUS",
      message: expect.stringContaining("Left, Right") as string,
    });
    await resumeWith(app.runtime, handle.executionId, { eventType: "Left", payload: 1 });
    await resumeWith(app.runtime, handle.executionId, { payload: 2 });
    expect(await handle.result()).toEqual([1, 2]);
    await expect(resumeWith(app.runtime, handle.executionId)).rejects.toMatchObject({
      code: "GATE_NOT_OPEN",
    });
    await expect(captureGolden(app.stores.eventStore, "nobody")).rejects.toMatchObject({
      code: "EXECUTION_UNKNOWN",
    });
  });

  it("gives up waiting and says what for", async () => {
    const app = open({ flows: [approval], surfaces: ["mission"] });
    const handle = await app.runtime.start(approval, {});
    await driveToSuspend(handle);
    const never = waitForPhase(app.projectionRuntime, "mission", handle.executionId, "done", {
      timeoutMs: 30,
      intervalMs: 5,
    });
    await expect(never).rejects.toMatchObject({
      code: "WAIT_TIMED_OUT",
      message: expect.stringContaining('at phase "waiting", not "done"') as string,
    });
    await expect(waitFor(() => false, { timeoutMs: 20 })).rejects.toMatchObject({ code: "WAIT_TIMED_OUT" });
    await expect(waitFor(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    await expect(waitFor(() => true, { intervalMs: -1 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

describe("matchers", () => {
  it("say what was expected and what was found", async () => {
    const work = step$({
      id: "work",
      inputSchema: anything,
      outputSchema: anything,
      handler: handler$(() => 1),
    });
    const flow = defineFlow(
      flow$({ id: "work", version: "1", inputSchema: anything, outputSchema: anything }),
      (ctx) => ctx.run(work, {}),
    );
    const app = open({ flows: [flow] });
    const handle = await app.runtime.start(flow, {});
    const state = await handle.waitForCompletion();
    const log = await captureGolden(app.stores.eventStore, handle.executionId);
    expect(log).toHaveRunOnce("work");
    expect(() => expect(log).toHaveRunOnce("other")).toThrow(
      "to have run step other once; it was started 0 times",
    );
    expect(() => expect(log).not.toHaveRunOnce("work")).toThrow("not to have run step work once");
    expect(() => expect(state).toHaveFailed("X")).toThrow("to have failed with X; it is completed");
    expect(() => expect(state).toBeSuspendedOn("Gate")).toThrow("open gates: none");
    expect(() => expect(state).toHaveRunOnce("work")).toThrow(/takes a log/);
    expect(() => expect(3).toHaveCompleted()).toThrow(/state of an execution/);
  });
});
