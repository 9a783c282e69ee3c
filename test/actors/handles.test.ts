import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  HeddleError as AnyHeddleError,
  type HeddleError,
  handler$,
  step$,
  surface,
} from "../../src/kernel/index.js";
import { flow, unhandledRejections, World } from "../support/world.js";

const gated = flow("gated", async (ctx) => {
  const answer = await ctx.suspend<string>({ on: "gate" });
  if (answer === "fail") throw new RangeError("as asked");
  return answer;
});

describe("a handle", () => {
  test("tells of each way an execution can go", async () => {
    const world = World.memory();
    const process = await world.open([gated]);
    const ways: [string, (id: string) => Promise<unknown>, unknown, unknown][] = [
      [
        "completed",
        (id) => process.runtime.resume(id, { eventType: "gate", payload: "ok" }),
        { variables: { _output: "ok" } },
        "ok",
      ],
      [
        "failed",
        (id) => process.runtime.resume(id, { eventType: "gate", payload: "fail" }),
        { error: { name: "RangeError", message: "as asked" } },
        "EXECUTION_FAILED",
      ],
      [
        "cancelled",
        (id) => process.runtime.cancel(id, "no longer wanted"),
        { reason: "no longer wanted" },
        "EXECUTION_CANCELLED",
      ],
    ];
    for (const [status, move, expected, result] of ways) {
      const handle = await process.start(gated, null, status);
      expect(handle.executionId).toBe(status);
      const [suspended, settled] = await world.until(
        Promise.all([handle.waitForSuspend(), handle.settled()]),
      );
      expect([suspended.status, settled.status]).toEqual(["suspended", "suspended"]);
      const waiting = [handle.waitForCompletion(), process.runtime.handle(status).waitForCompletion()];
      const output = handle.result().catch((error: HeddleError) => error.code);
      await world.until(move(status));
      for (const state of await world.until(Promise.all([...waiting, handle.settled(), handle.getState()]))) {
        expect(state).toMatchObject({
          status,
          executionId: status,
          workflowId: "gated",
          ...(expected as object),
        });
      }
      expect(await world.until(output)).toBe(result);
      await expect(world.until(handle.waitForSuspend())).rejects.toMatchObject({
        code: "EXECUTION_ENDED",
        details: { status },
      });
    }
    const failed = await world.until(
      process.runtime
        .handle("failed")
        .result()
        .catch((error: Error) => error),
    );
    expect(failed).toMatchObject({
      message: "Execution failed failed: as asked",
      cause: { name: "RangeError" },
    });
  });

  test("tells the same after a restart, for executions of an earlier process", async () => {
    const world = World.memory();
    let process = await world.open([gated]);
    await process.start(gated, null, "parked");
    await process.start(gated, null, "done");
    await process.finish("done", { gate: "ok" });
    process = await world.restart([gated]);
    expect((await world.until(process.runtime.handle("parked").waitForSuspend())).status).toBe("suspended");
    expect((await world.until(process.runtime.handle("parked").settled())).status).toBe("suspended");
    expect(await world.until(process.runtime.handle("done").result())).toBe("ok");
    await expect(world.until(process.runtime.handle("done").waitForSuspend())).rejects.toMatchObject({
      code: "EXECUTION_ENDED",
    });
  });

  test.each([10_000, 0])("waits for a gate, not for a sleep; resident: %i", async (maxResident) => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      await ctx.sleep(1_000);
      await ctx.suspend({ on: "gate" });
    });
    const process = await world.open([f], { maxResident });
    const begun = world.clock.now;
    const handle = await process.start(f, null);
    const suspended = handle.waitForSuspend();
    await world.settle();
    expect((await handle.getState()).status).toBe("suspended");
    const late = process.runtime.handle("x").waitForSuspend(); // asked for while it sleeps
    await world.until(Promise.all([suspended, late]));
    expect(world.clock.now - begun).toBe(1_000);
  });

  test("a gate that is already open is told at once, also when the execution was just brought into memory", async () => {
    const world = World.memory();
    let process = await world.open([gated]);
    await world.until((await process.start(gated, null)).waitForSuspend());
    process = await world.restart([gated]);
    const refused = process.runtime
      .resume("x", { eventType: "nothing" })
      .catch((error: HeddleError) => error.code);
    const told = process.runtime.handle("x").waitForSuspend();
    expect(await world.until(refused)).toBe("GATE_NOT_OPEN");
    expect((await world.until(told)).status).toBe("suspended");
    expect((await world.until(process.runtime.handle("x").waitForSuspend())).status).toBe("suspended");
  });

  test("each caller gets a copy of its own", async () => {
    const world = World.memory();
    const f = flow<{ list: number[] }>("f", async (ctx) => ctx.suspend({ on: "gate" }));
    const process = await world.open([f]);
    const handle = await process.start(f, { list: [1] });
    const [one, two] = await world.until(Promise.all([handle.waitForSuspend(), handle.waitForSuspend()]));
    (one.input as { list: number[] }).list.push(2);
    expect(two.input).toEqual({ list: [1] });
    expect((await handle.getState()).input).toEqual({ list: [1] });
  });

  test("the state it gives is of the moment it tells of, also for a long log", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      for (let i = 0; i < 40; i++)
        await ctx.run(
          world.step(`s#${i}`, () => i),
          i,
        );
      await ctx.suspend({ on: "gate" });
    });
    const process = await world.open([f]);
    const state = await world.until((await process.start(f, null)).waitForSuspend());
    expect(state).toMatchObject({ status: "suspended", sequence: 81 });
    expect(await process.finish("x", { gate: 1 })).toMatchObject({ status: "completed", sequence: 84 });
  });

  test("C-EMB-01: promises nobody awaits do not end the host", async () => {
    const rejections = unhandledRejections();
    const world = World.memory();
    const process = await world.open([gated]);
    const { runtime } = process;
    const handle = await process.start(gated, null);
    void handle.result();
    void handle.waitForCompletion();
    void handle.settled();
    void runtime.handle("nobody").getState();
    void runtime.handle("nobody").waitForSuspend();
    void runtime.handle("nobody").result();
    void runtime.loadState("nobody");
    void runtime.cancel("nobody");
    void runtime.resume("nobody", { eventType: "gate" });
    void runtime.resume("x", { eventType: "wrong" });
    void runtime.start(gated, null, { executionId: "" });
    void runtime.start(
      flow("unknown", async () => 1),
      null,
    );
    await world.settle();
    void handle.waitForSuspend();
    await world.until(runtime.resume("x", { eventType: "gate", payload: "fail" }));
    await world.settle();
    void runtime.handle("x").waitForSuspend();
    await process.close();
    void runtime.handle("x").waitForCompletion();
    void runtime.start(gated, null);
    void runtime.open();
    await world.settle();
    expect(rejections).toEqual([]);
  });
});

describe("starting", () => {
  test("C-LIF-05: a hundred starts of one id at once are one execution", async () => {
    const world = World.memory();
    const once = world.step("once", () => world.delay(5));
    const f = flow<{ n: number }>("f", async (ctx) => ctx.run(once, 1));
    const process = await world.open([f]);
    const all = Array.from({ length: 100 }, () => process.runtime.start(f, { n: 1 }, { executionId: "x" }));
    const handles = await world.until(Promise.all(all));
    expect(new Set(handles.map(({ executionId }) => executionId))).toEqual(new Set(["x"]));
    await process.finish("x");
    await world.until(process.runtime.start(f, { n: 1 }, { executionId: "x" }));
    expect(world.ran("once")).toBe(1);
    expect((await process.runtime.list()).length).toBe(1);
  });

  test("C-LIF-05: the same id with another flow or input is a conflict, at once and later, and the first is unharmed", async () => {
    const world = World.memory();
    const f = flow<number>("f", async (ctx) => ctx.suspend({ on: "gate" }));
    const other = flow<number>("other", async () => 1);
    let process = await world.open([f, other]);
    const start = (which: typeof f, input: number) =>
      process.runtime.start(which, input, { executionId: "x" });
    for (let round = 0; round < 3; round++) {
      if (round === 1) process = await world.restart([f, other]);
      if (round === 2) await process.finish("x", { gate: 1 });
      const results = await world.until(
        Promise.allSettled([start(f, 1), start(f, 2), start(other, 1), start(f, 1)]),
      );
      expect(
        results.map((result) => (result.status === "rejected" ? (result.reason as HeddleError).code : "ok")),
      ).toEqual(["ok", "EXECUTION_CONFLICT", "EXECUTION_CONFLICT", "ok"]);
      const reasons = results.flatMap((result) =>
        result.status === "rejected" ? [(result.reason as Error).message] : [],
      );
      expect(reasons).toEqual([
        expect.stringContaining("was started with another input"),
        expect.stringContaining("runs flow f"),
      ]);
    }
    expect((await process.runtime.loadState("x")).status).toBe("completed");
  });

  test("ids are made where none is given, and never looked up", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => ctx.executionId === "" || ctx.workflowId);
    const process = await world.open([f]);
    const handles = await world.until(
      Promise.all(Array.from({ length: 10 }, () => process.runtime.start(f, null))),
    );
    expect(new Set(handles.map(({ executionId }) => executionId)).size).toBe(10);
    expect(await world.until(handles[0]!.result())).toBe("f");
  });

  test("what cannot be started says why, and leaves nothing behind", async () => {
    const world = World.memory();
    const strict = flow<{ n: number }>("strict", async () => 1, { inputSchema: z.object({ n: z.number() }) });
    const process = await world.open([strict]);
    const { runtime } = process;
    const start = (which: unknown, input: unknown, options = {}) =>
      world.until(runtime.start(which as typeof strict, input as { n: number }, options));
    await expect(start(strict, { n: "1" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      details: { issues: [{ path: "n" }] },
    });
    await expect(
      start(
        flow("nobody", async () => 1),
        1,
      ),
    ).rejects.toMatchObject({
      code: "FLOW_UNKNOWN",
      message: expect.stringContaining("Registered are: strict.") as string,
    });
    await expect(
      start(
        flow("strict", async () => 1, { version: "2" }),
        1,
      ),
    ).rejects.toMatchObject({
      code: "FLOW_UNKNOWN",
      message: expect.stringContaining("Version 1 of it is registered.") as string,
    });
    for (const nonsense of [undefined, null, {}, 7]) {
      await expect(start(nonsense, 1)).rejects.toBeInstanceOf(AnyHeddleError);
    }
    await expect(start(strict, { n: 1 }, { executionId: null })).rejects.toMatchObject({
      code: "ID_INVALID",
    });
    expect(await runtime.list()).toEqual([]);
    expect(process.store.commits).toBe(0);
  });

  test("validateInput: false takes an input as it is", async () => {
    const world = World.memory();
    const strict = flow<{ n: number }>("strict", async (_ctx, input) => input, {
      inputSchema: z.object({ n: z.number() }),
    });
    const process = await world.open([strict], { validateInput: false });
    await process.start(strict, { n: "1" } as never);
    expect((await process.finish("x")).variables["_output"]).toEqual({ n: "1" });
  });

  test("the parsed input is what is recorded, and an output that fails its schema fails the execution", async () => {
    const world = World.memory();
    const f = flow<number, number>("f", async (_ctx, n) => (n === 7 ? n : ("no number" as never)), {
      inputSchema: z.coerce.number() as never,
      outputSchema: z.number(),
    });
    const process = await world.open([f]);
    await process.start(f, "7" as never);
    expect(await process.finish("x")).toMatchObject({ input: 7, variables: { _output: 7 } });
    await process.start(f, 8, "y");
    expect(await process.finish("y")).toMatchObject({ status: "failed", error: { code: "OUTPUT_INVALID" } });
  });

  test("a step's input and output are parsed, and what fails is the step's failure", async () => {
    const world = World.memory();
    const step = (id: string, result: unknown) =>
      step$({
        id,
        inputSchema: z.object({ n: z.coerce.number() }),
        outputSchema: z.string(),
        handler: handler$((_input: { n: number }) => result as string),
      });
    const f = flow("f", async (ctx) => {
      const code = (error: HeddleError): string => error.code;
      return [
        await ctx.run(step("good", "fine"), { n: "7" as never }),
        await ctx.run(step("bad in", "fine"), {} as never).catch(code),
        await ctx.run(step("bad out", 7), { n: 1 }).catch(code),
      ];
    });
    const process = await world.open([f]);
    await process.start(f, null);
    const state = await process.finish("x");
    expect(state.variables["_output"]).toEqual(["fine", "INPUT_INVALID", "OUTPUT_INVALID"]);
    expect(state.frames["good"]?.input).toEqual({ n: 7 });
    expect(Object.keys(state.frames)).toEqual(["good", "bad out"]);
  });
});

describe("cancelling", () => {
  test("aborts steps in flight, ends timers, and is told once", async () => {
    const world = World.memory();
    let reason: unknown;
    const slow = world.step(
      "slow",
      (_input, { signal }) =>
        new Promise<void>(() =>
          signal.addEventListener("abort", () => {
            reason = signal.reason as unknown;
          }),
        ),
    );
    const late = world.step("late", async () => {
      await world.delay(50);
      return "too late";
    });
    const f = flow("f", async (ctx) =>
      Promise.all([ctx.run(slow, 1), ctx.run(late, 1), ctx.sleep(1_000_000)]),
    );
    const process = await world.open([f]);
    await process.start(f, null);
    await world.when(() => world.ran("slow") === 1);
    await world.until(process.runtime.cancel("x", "enough"));
    expect(reason).toMatchObject({ message: expect.stringContaining("enough") as string });
    await world.until(process.runtime.cancel("x", "again"));
    await world.pass(1_000);
    expect(await process.store.timers()).toEqual([]);
    expect((await world.types()).slice(-3)).toEqual([
      "CANCEL_REQUESTED",
      "EXECUTION_CANCELLED",
      "OUTCOME_LATE",
    ]);
    expect(await process.runtime.loadState("x")).toMatchObject({ status: "cancelled", reason: "enough" });
  });

  test("what has ended is not cancelled, and the message says so", async () => {
    const world = World.memory();
    const f = flow("f", async () => 1);
    let process = await world.open([f]);
    await process.start(f, null);
    await process.finish("x");
    await expect(world.until(process.runtime.cancel("x"))).rejects.toMatchObject({
      code: "EXECUTION_ENDED",
      details: { status: "completed" },
    });
    process = await world.restart([f]);
    await expect(world.until(process.runtime.cancel("x"))).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  test("several at once, with a start and a resume of the same moment, give one end", async () => {
    const world = World.memory();
    const process = await world.open([gated]);
    const started = process.runtime.start(gated, null, { executionId: "x" });
    await world.until(started);
    const moves = [1, 2, 3].map((n) => process.runtime.cancel("x", `${n}`));
    const resumed = process.runtime.resume("x", { eventType: "gate", payload: "ok" });
    const results = await world.until(Promise.allSettled([...moves, resumed]));
    expect(results.slice(0, 3).every(({ status }) => status === "fulfilled")).toBe(true);
    expect((results[3] as PromiseRejectedResult).reason).toMatchObject({ code: "EXECUTION_ENDED" });
    expect((await world.types()).filter((type) => type.startsWith("EXECUTION_C"))).toEqual([
      "EXECUTION_CANCELLED",
    ]);
  });

  test("a parked execution of an earlier process is cancelled, and makes no further step", async () => {
    const world = World.memory();
    const after = world.step("after", () => 1);
    const f = flow("f", async (ctx) => {
      await ctx.suspend({ on: "gate", timeout: 1_000_000 });
      await ctx.run(after, 1);
    });
    let process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    process = await world.restart([f]);
    await world.until(process.runtime.cancel("x"));
    expect(await process.store.timers()).toEqual([]);
    expect(await world.types()).toEqual([
      "EXECUTION_STARTED",
      "EXECUTION_SUSPENDED",
      "CANCEL_REQUESTED",
      "EXECUTION_CANCELLED",
    ]);
    expect(world.ran("after")).toBe(0);
  });
});

describe("the context", () => {
  test("patches go to every surface or to one, and only legal ones", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      ctx.ui.set("a", 1);
      surface(ctx).merge("a", { b: 1 });
      surface(ctx, "board").append("c", 2);
      ctx.ui.on("board").on("panel").set("d", 3);
    });
    const process = await world.open([f]);
    await process.start(f, null);
    await process.finish("x");
    const patches = (await world.events())
      .filter(({ type }) => type === "SURFACE_PATCH")
      .map(({ payload }) => payload);
    expect(patches).toEqual([
      { operation: "set", key: "a", value: 1 },
      { operation: "merge", key: "a", value: { b: 1 } },
      { operation: "append", key: "c", value: 2, surface: "board" },
      { operation: "set", key: "d", value: 3, surface: "panel" },
    ]);
  });

  test("a step's context says whose it is, and its events stand before its end", async () => {
    const world = World.memory();
    const step = step$({
      id: "s",
      inputSchema: z.unknown(),
      outputSchema: z.unknown(),
      handler: handler$(
        (_input, { emit, executionId, workflowId, stepId, attempt, idempotencyKey, signal }) => {
          emit("progress", { half: true });
          emit("progress", { whole: true });
          return { executionId, workflowId, stepId, attempt, idempotencyKey, aborted: signal.aborted };
        },
      ),
    });
    const f = flow("f", async (ctx) => ctx.run(step, 1));
    const process = await world.open([f]);
    await process.start(f, null);
    const state = await process.finish("x");
    expect(state.variables["_output"]).toEqual({
      executionId: "x",
      workflowId: "f",
      stepId: "s",
      attempt: 1,
      idempotencyKey: "x/s",
      aborted: false,
    });
    expect(await world.types()).toEqual([
      "EXECUTION_STARTED",
      "STEP_STARTED",
      "progress",
      "progress",
      "STEP_COMPLETED",
      "EXECUTION_COMPLETED",
    ]);
  });

  test("what a step emits after its end is void", async () => {
    const world = World.memory();
    let emit: ((name: string, payload: unknown) => void) | undefined;
    const step = world.step("s", (_input, ctx) => void (emit = ctx.emit));
    const f = flow("f", async (ctx) => {
      await ctx.run(step, 1);
      await ctx.suspend({ on: "gate" });
    });
    const process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    emit?.("late", 1);
    await process.finish("x", { gate: 1 });
    emit?.("later", 1);
    await world.settle();
    expect((await world.types()).filter((type) => type.startsWith("late"))).toEqual([]);
  });
});
