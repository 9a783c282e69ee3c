// C-LIF-05: an id names one execution, for ever. Whoever starts it again with the same flow and input gets that one,
// however it stands or ended; anybody else gets a conflict and harms nothing.

import { describe, expect, it } from "vitest";
import { hasCode } from "../../src/index.js";
import { flow, latch, openApp, outcomeOf, step, temporaryDirectory, typesOf, within } from "./world.js";

const STARTS = 100;

function counted(runs: string[]) {
  const work = step("work", (input, ctx) => {
    runs.push(ctx.executionId);
    return input;
  });
  return flow("counted", (ctx, input) => ctx.run(work, input));
}

describe.each(["memory", "lmdb"] as const)("C-LIF-05: starting one id twice (%s)", (kind) => {
  const dirFor = (): { dir?: string } => (kind === "lmdb" ? { dir: temporaryDirectory() } : {});

  it("makes one execution of 100 concurrent starts, and every caller gets it", async () => {
    const runs: string[] = [];
    const once = counted(runs);
    const app = openApp({ ...dirFor(), flows: [once] });
    const handles = await Promise.all(
      Array.from({ length: STARTS }, () => app.runtime.start(once, { a: 1 }, { executionId: "same" })),
    );
    const results = await Promise.all(handles.map((handle) => within(handle.result(), "result")));
    expect(new Set(handles.map(({ executionId }) => executionId))).toEqual(new Set(["same"]));
    expect(results).toEqual(Array.from({ length: STARTS }, () => ({ a: 1 })));
    expect(runs).toEqual(["same"]);
    expect(await typesOf(app, "same")).toEqual([
      "EXECUTION_STARTED",
      "STEP_STARTED",
      "STEP_COMPLETED",
      "EXECUTION_COMPLETED",
    ]);
  });

  it("gives one of two different concurrent starts the id, and the others a conflict", async () => {
    const once = counted([]);
    const other = flow("other", async () => "other");
    const app = openApp({ ...dirFor(), flows: [once, other] });
    const outcomes = await Promise.all([
      outcomeOf(app.runtime.start(once, 1, { executionId: "id" })),
      outcomeOf(app.runtime.start(once, 2, { executionId: "id" })),
      outcomeOf(app.runtime.start(other, 1, { executionId: "id" })),
      outcomeOf(app.runtime.start(once, 1, { executionId: "id" })),
    ]);
    expect(outcomes).toEqual(["resolved", "EXECUTION_CONFLICT", "EXECUTION_CONFLICT", "resolved"]);
  });

  it("refuses another flow or another input while the first one runs, and after it ended", async () => {
    const gated = flow("gated", (ctx) => ctx.suspend<number>({ on: "go" }));
    const other = flow("other", async () => "other");
    const app = openApp({ ...dirFor(), flows: [gated, other] });
    const first = await app.runtime.start(gated, { n: 1 }, { executionId: "id" });
    await within(first.waitForSuspend(), "gate");
    const log = await typesOf(app, "id");

    const refused = async (): Promise<void> => {
      for (const attempt of [
        app.runtime.start(other, { n: 1 }, { executionId: "id" }),
        app.runtime.start(gated, { n: 2 }, { executionId: "id" }),
      ]) {
        const error: unknown = await attempt.catch((reason: unknown) => reason);
        expect(hasCode(error, "EXECUTION_CONFLICT"), String(error)).toBe(true);
        expect(String(error)).toMatch(/id is taken.*Choose another id/);
      }
    };
    await refused();
    expect(await typesOf(app, "id")).toEqual(log);
    await app.runtime.resume("id", { eventType: "go", payload: 7 });
    expect(await within(first.result(), "result")).toBe(7);
    await refused();
  });

  it("attaches to an execution that completed, failed or was cancelled; none of them starts again", async () => {
    let runs = 0;
    const work = step("work", (input) => {
      runs++;
      if (input === "fail") throw new Error("as told");
      return input;
    });
    const told = flow("told", async (ctx, input) => {
      if (input === "wait") await ctx.suspend({ on: "never" });
      return ctx.run(work, input);
    });
    const app = openApp({ ...dirFor(), flows: [told] });
    const start = (input: string) => app.runtime.start(told, input, { executionId: `to ${input}` });
    for (const input of ["complete", "fail", "wait"]) await start(input);
    await app.runtime.cancel("to wait");
    for (const [input, status] of [
      ["complete", "completed"],
      ["fail", "failed"],
      ["wait", "cancelled"],
    ] as const) {
      expect((await within((await start(input)).waitForCompletion(), input)).status).toBe(status);
      const again = await start(input);
      expect((await within(again.waitForCompletion(), input)).status).toBe(status);
      expect(await outcomeOf(within(again.result(), input))).toBe(
        { completed: "resolved", failed: "EXECUTION_FAILED", cancelled: "EXECUTION_CANCELLED" }[status],
      );
    }
    expect(runs).toBe(2);
  });
});

it("C-LIF-05: after a restart the first one finishes, and the same rules hold", async () => {
  const dir = temporaryDirectory();
  const entered = latch();
  const stuck = flow("kept", (ctx, input) =>
    ctx.run(
      step("work", () => {
        entered.open();
        return new Promise<string>(() => {});
      }),
      input,
    ),
  );
  const before = openApp({ dir, flows: [stuck] });
  await before.runtime.start(stuck, { n: 1 }, { executionId: "id" });
  await entered.opened;
  await before.close({ deadlineMs: 0 });

  const kept = flow("kept", (ctx, input) =>
    ctx.run(
      step("work", () => "done"),
      input,
    ),
  );
  const other = flow("other", async () => "other");
  const after = openApp({ dir, flows: [kept, other] });
  const [same, differs, foreign] = await Promise.all([
    outcomeOf(after.runtime.start(kept, { n: 1 }, { executionId: "id" })),
    outcomeOf(after.runtime.start(kept, { n: 2 }, { executionId: "id" })),
    outcomeOf(after.runtime.start(other, { n: 1 }, { executionId: "id" })),
  ]);
  expect({ same, differs, foreign }).toEqual({
    same: "resolved",
    differs: "EXECUTION_CONFLICT",
    foreign: "EXECUTION_CONFLICT",
  });
  expect(await within(after.runtime.handle("id").result(), "result")).toBe("done");
});
