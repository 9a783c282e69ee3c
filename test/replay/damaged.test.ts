// Logs that no version of heddle wrote: the execution is set aside or goes on, and nobody else notices (C-LIF-02, P5).

import { describe, expect, test } from "vitest";
import { type ExecutionEvent, failureToWire, type LogRecord, TypedFailure } from "../../src/kernel/index.js";
import { flow, World } from "../support/world.js";

const started: ExecutionEvent = {
  type: "EXECUTION_STARTED",
  flowId: "f",
  flowVersion: "1",
  input: undefined,
  flags: [],
  principal: undefined,
};
const issued: ExecutionEvent = {
  type: "STEP_STARTED",
  stepId: "s",
  input: 1,
  kind: "step",
  toolId: undefined,
};

async function opened(
  events: readonly ExecutionEvent[],
  catching = false,
  sequenceOf: (index: number) => number = (index) => index,
) {
  const world = World.memory();
  const step = world.step("s", () => "ran");
  const f = flow("f", async (ctx) =>
    catching ? ctx.run(step, 1).catch((error: unknown) => error) : ctx.run(step, 1),
  );
  const records = events.map(
    (event, index): LogRecord => ({
      sequence: sequenceOf(index),
      timestamp: world.clock.now,
      events: [event],
    }),
  );
  await world.write(f, records);
  const process = await world.open([f]);
  await world.settle();
  const [header] = await process.runtime.list();
  return { world, process, header };
}

describe("C-LIF-02: a log that makes no sense", () => {
  test("without a beginning, it is set aside as unreadable, and others go on", async () => {
    const { process, header } = await opened([issued]);
    expect(header).toMatchObject({
      status: "setAside",
      aside: { code: "RECORD_UNREADABLE", message: "The log of x does not begin with EXECUTION_STARTED." },
    });
    const g = flow("g", async () => 1);
    process.register([g]);
    await process.start(g, null, "y");
    expect((await process.finish("y")).status).toBe("completed");
  });

  test.each([
    ["its first event", 0, "0 to 0"],
    ["one event on the way", 1, "1 to 1"],
    ["the last but one", 2, "2 to 2"],
  ])("that lacks %s, it is set aside as unreadable, and nothing is read from it", async (_, lost, named) => {
    const settled: ExecutionEvent = { type: "STEP_COMPLETED", stepId: "s", output: "recorded" };
    const { world, process, header } = await opened([started, issued, settled], false, (index) =>
      index < lost ? index : index + 1,
    );
    const message = expect.stringContaining(`lacks its events ${named}`) as unknown;
    expect(header).toMatchObject({ status: "setAside", aside: { code: "RECORD_UNREADABLE", message } });
    await expect(process.store.read("x")).rejects.toMatchObject({ code: "RECORD_UNREADABLE", message });
    expect(world.ran("s")).toBe(0);
  });

  test.each<[string, ExecutionEvent]>([
    ["a step that was never issued", { type: "STEP_COMPLETED", stepId: "t", output: 1 }],
    ["a gate that was never opened", { type: "TIMER_FIRED", gateId: "sleep#0" }],
    [
      "a decision nobody asked for",
      { type: "DECISION_RECORDED", decisionId: "d", choice: 1, source: undefined, rationale: undefined },
    ],
  ])("with the outcome of %s, it has diverged", async (_, outcome) => {
    const { header } = await opened([started, issued, outcome]);
    expect(header).toMatchObject({ status: "setAside", aside: { code: "REPLAY_DIVERGED" } });
    expect(header?.aside?.message).toContain("waits for something else and never reaches it");
  });

  test("with a retry of a step that was never issued, it goes on", async () => {
    const stray: ExecutionEvent = {
      type: "STEP_RETRIED",
      stepId: "t",
      attempt: 2,
      reason: "failed",
      dueAt: 0,
      error: undefined,
    };
    const { process } = await opened([started, stray, issued]);
    expect(await process.finish("x")).toMatchObject({ status: "completed", variables: { _output: "ran" } });
  });

  test("with a typed failure that lacks its error, the flow still gets channel and payload", async () => {
    const failed: ExecutionEvent = {
      type: "STEP_FAILED",
      stepId: "s",
      error: undefined,
      channel: "quota",
      payload: 7,
    };
    const { process } = await opened([started, issued, failed], true);
    const { variables } = await process.finish("x");
    expect(variables["_output"]).toMatchObject({
      name: "TypedFailure",
      channel: "quota",
      payload: 7,
      message: "failed on channel quota",
    });
  });

  test("with a typed failure whose error has no stack, it has one all the same", async () => {
    const bare = new TypedFailure("quota", 7, "none left");
    Object.defineProperty(bare, "stack", { value: undefined });
    const failed: ExecutionEvent = {
      type: "STEP_FAILED",
      stepId: "s",
      error: failureToWire(bare),
      channel: "quota",
      payload: 7,
    };
    const { process } = await opened([started, issued, failed], true);
    expect((await process.finish("x")).variables["_output"]).toMatchObject({ message: "none left" });
  });
});

describe("timers that come when nothing waits for them any more", () => {
  test("of a step that has ended, and of a gate that was closed, they are taken away and do nothing", async () => {
    const world = World.memory();
    const step = world.step("s", () => "ran");
    const f = flow("f", async (ctx) => {
      await ctx.run(step, 1);
      return ctx.suspend({ on: "gate" });
    });
    const first = await world.open([f]);
    await world.until((await first.start(f, null)).waitForSuspend());
    await first.kill();
    const rows = ["retry:s", "gate:gate#0", "gate:nothing#7"].map((gateId, i) => ({
      key: 0,
      wakeAt: world.clock.now + 1 + i,
      gateId,
    }));
    await world.arm(rows);
    const process = await world.open([f]);
    await world.pass(1_000);
    expect(await process.store.timers()).toEqual([]);
    expect((await process.runtime.loadState("x")).status).toBe("suspended");
    expect(world.ran("s")).toBe(1);
    expect((await process.finish("x", { gate: 1 })).status).toBe("completed");
  });
});
