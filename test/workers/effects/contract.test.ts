// What holds for an effect holds for one of the pool, whether its execution lives in the host's thread or in one of two
// partition threads: retries, doubt, failure channels, events, cancels.

import type { HeddleApp } from "heddle";
import { describe, expect, it } from "vitest";
import { errorOf, until, within } from "../partitions/world.js";
import { eventsOf, flowOf, openApp, outsideCount, typesOf } from "./world.js";

const soon = { maxAttempts: 3, baseDelayMs: 1 };

describe.each([
  ["in the host's thread", 0],
  ["in two partition threads", 2],
])("an effect of the pool, its execution %s", (_where, actors) => {
  const open = (): HeddleApp => openApp({ actors });
  const start = (app: HeddleApp, input: object, executionId = "x", flow = "single") =>
    app.runtime.start(flowOf(flow), input, { executionId });

  describe("C-EFF-01: that takes its thread down", () => {
    it("is tried again by the policy of its step, under the same key", async () => {
      const { file, marks } = outsideCount();
      const app = open();
      const handle = await start(app, { toolId: "exitsOnce", input: { file }, options: { retry: soon } });
      expect(await within(handle.result(), "result")).toBe("recovered");
      expect(marks()).toMatchObject([
        { what: "begin", attempt: 1, key: "x/step" },
        { what: "begin", attempt: 2, key: "x/step" },
        { what: "end", attempt: 2, key: "x/step" },
      ]);
      expect((await typesOf(app, "x")).filter((type) => type === "STEP_RETRIED")).toHaveLength(1);
    });

    it("fails when its policy gives up, or there is none, typed", async () => {
      const { file, marks } = outsideCount();
      const app = open();
      const input = { toolId: "exitsAlways", input: { file } };
      const without = await start(app, input, "without");
      expect(await within(errorOf(without.result()), "no policy")).toMatchObject({
        code: "EXECUTION_FAILED",
        cause: { code: "EFFECT_WORKER_LOST", details: { stepId: "step", attempt: 1 } },
      });
      const policy = await start(app, { ...input, options: { retry: soon } }, "policy");
      expect(await within(errorOf(policy.result()), "the policy gives up")).toMatchObject({
        cause: { code: "EFFECT_WORKER_LOST", details: { attempt: 3 } },
      });
      expect(marks().map(({ executionId, attempt }) => `${executionId} ${attempt}`)).toEqual([
        "without 1",
        "policy 1",
        "policy 2",
        "policy 3",
      ]);
    });

    it("leaves no trace in the executions beside it", async () => {
      const { file, marks } = outsideCount();
      const app = open();
      const numbers = Array.from({ length: 20 }, (_, n) => n);
      const run = async (flow: string, n: number): Promise<unknown> =>
        (await start(app, { file, ms: 2 }, `${flow}-${n}`, flow)).result();
      const results = await within(
        Promise.all(numbers.flatMap((n) => [run("fragile", n), run("healthy", n)])),
        "all of them",
      );
      expect(results).toEqual(
        numbers.flatMap(() => [
          [1, "recovered", 3],
          [1, 2, 3],
        ]),
      );
      for (const n of numbers) {
        const retried = async (id: string) =>
          (await typesOf(app, id)).filter((type) => type === "STEP_RETRIED").length;
        expect(await retried(`healthy-${n}`)).toBe(0);
        expect(await retried(`fragile-${n}`)).toBe(1);
      }
      expect(marks().filter(({ what }) => what === "end").length).toBe(numbers.length * 6);
    });
  });

  describe("that may not be repeated, when its thread is lost", () => {
    const DOUBTFUL = [
      ["its step says so", { toolId: "exitsOnce", options: { idempotent: false, retry: soon } }],
      ["it says so itself", { toolId: "pays", options: { retry: soon } }],
    ] as const;

    it.each(DOUBTFUL)("parks in doubt, because %s, until somebody finds out", async (_why, step) => {
      const { file, marks } = outsideCount();
      const app = open();
      const verdicts = {
        outcome: { outcome: "paid" },
        fail: { fail: new Error("never arrived") },
        retry: { retry: true },
      } as const;
      for (const [id, verdict] of Object.entries(verdicts)) {
        const handle = await start(app, { ...step, input: { file } }, id);
        const state = await within(handle.waitForSuspend(), `${id} parks`);
        expect(state.frames["step"]).toMatchObject({ status: "inDoubt", attempts: 1 });
        expect((await typesOf(app, id)).at(-1)).toBe("EFFECT_INDOUBT");
        await app.runtime.resolveInDoubt(id, "step", verdict);
      }
      const result = (id: string) => within(app.runtime.handle(id).result(), id);
      expect(await result("outcome")).toBe("paid");
      expect((await errorOf(result("fail"))).cause).toMatchObject({ message: "never arrived" });
      expect(await result("retry")).toBe("recovered");
      expect(marks().map(({ executionId, attempt, key }) => `${executionId} ${attempt} ${key}`)).toEqual([
        "outcome 1 outcome/step",
        "fail 1 fail/step",
        "retry 1 retry/step",
        "retry 2 retry/step",
        "retry 2 retry/step",
      ]);
    });

    it("parks in doubt also when it was a neighbour's doing, if it had begun", async () => {
      const { file, marks } = outsideCount();
      const app = open();
      const options = { idempotent: false, retry: soon };
      const slow = { toolId: "work", input: { file, ms: 60_000 }, options };
      const handle = await start(app, slow, "slow");
      await until(() => marks().length === 1, "it has begun");
      // Several, so that one of them has its execution in the same partition and its effect on the same thread.
      const culprits = Array.from({ length: 8 }, async (_, n) => {
        const input = { toolId: "exitsOnce", input: { file }, options: { retry: soon } };
        return (await start(app, input, `culprit-${n}`)).result();
      });
      await within(Promise.all(culprits), "the culprits");
      expect(await within(handle.waitForSuspend(), "it parks")).toMatchObject({
        frames: { step: { status: "inDoubt", attempts: 1 } },
      });
      await app.runtime.resolveInDoubt("slow", "step", { outcome: "found out" });
      expect(await within(handle.result(), "result")).toBe("found out");
      expect(marks().filter(({ executionId }) => executionId === "slow")).toHaveLength(1);
    });
  });

  it("fails on its declared channels, and on no other", async () => {
    const app = open();
    const run = async (id: string, input: object): Promise<unknown> =>
      within((await start(app, input, id, "caught")).result(), id);
    expect(await run("declared", { toolId: "sells", input: { left: 0 } })).toMatchObject({
      channel: "soldOut",
      payload: { left: 0 },
    });
    const failed = (await eventsOf(app, "declared")).find(({ type }) => type === "STEP_FAILED");
    expect(failed?.payload).toMatchObject({ channel: "soldOut" });
    for (const channel of ["other", "soldOut"])
      expect(await run(`bad-${channel}`, { toolId: "sellsBadly", input: { channel } })).toMatchObject({
        code: "CHANNEL_REFUSED",
      });
  });

  it("records what it emits, in order, in the log of its execution", async () => {
    const app = open();
    const values = [{ n: 1n }, new Date(5), undefined, "four"];
    const handle = await start(app, { toolId: "emits", input: { values } });
    expect(await within(handle.result(), "result")).toMatch(/^[A-Z_]+$/);
    const events = await eventsOf(app, "x");
    const emitted = events.filter(({ type }) => type === "stock.counted");
    expect(emitted.map(({ payload }) => payload)).toEqual(values);
    const completedAt = events.findIndex(({ type }) => type === "STEP_COMPLETED");
    expect(events.indexOf(emitted.at(-1)!)).toBeLessThan(completedAt);
    expect(events.filter(({ type }) => type === "EXECUTION_COMPLETED")).toHaveLength(1);
  });

  it("hears of a cancel through its signal", async () => {
    const { file, marks } = outsideCount();
    const app = open();
    const handle = await start(app, { toolId: "obeys", input: { file } });
    await until(() => marks().length === 1, "it has begun");
    await app.runtime.cancel("x", "not wanted");
    expect(await within(handle.waitForCompletion(), "the end")).toMatchObject({ status: "cancelled" });
    await until(() => marks().length === 2, "it hears");
    expect(marks()[1]).toMatchObject({ what: "aborted:CANCELLED", attempt: 1 });
    await app.close();
    expect(await typesOf(openApp({ actors }), "x"), "it did as it was told").not.toContain("OUTCOME_LATE");
  });

  it.each([
    ["completes", {}, { kind: "completed" }],
    ["fails", { fails: true }, { kind: "failed", error: { name: "RangeError", message: "in vain" } }],
  ])("C-SUS-06: that ignores its cancel and %s is late, and runs no more", async (_how, input, late) => {
    const { file, marks } = outsideCount();
    const app = open();
    const options = { retry: soon };
    const handle = await start(app, { toolId: "deaf", input: { file, ...input }, options });
    await until(() => marks().length === 1, "it has begun");
    await app.runtime.cancel("x", "not wanted");
    expect(await within(handle.waitForCompletion(), "the end")).toMatchObject({ status: "cancelled" });
    await until(async () => (await typesOf(app, "x")).includes("OUTCOME_LATE"), "it is late");
    expect((await typesOf(app, "x")).slice(-2)).toEqual(["EXECUTION_CANCELLED", "OUTCOME_LATE"]);
    const { status, frames } = await app.runtime.loadState("x");
    expect([status, frames["step"]?.status]).toEqual(["cancelled", "cancelled"]);
    expect(frames["step"]?.late).toMatchObject([{ attempt: 1, ...late }]);
    expect(marks()).toHaveLength(1);
  });

  it("out of time it is late, and in doubt when it may not run twice", async () => {
    const { file } = outsideCount();
    const app = open();
    const options = { timeoutMs: 30, idempotent: false, retry: soon };
    const handle = await start(app, { toolId: "deaf", input: { file }, options });
    const state = await within(handle.waitForSuspend(), "it parks");
    expect(state.frames["step"]).toMatchObject({ status: "inDoubt", attempts: 1 });
    await until(async () => (await typesOf(app, "x")).includes("OUTCOME_LATE"), "it is late");
    expect((await app.runtime.loadState("x")).frames["step"]?.late).toMatchObject([{ kind: "completed" }]);
  });
});
