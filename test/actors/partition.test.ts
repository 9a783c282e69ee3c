import { describe, expect, test } from "vitest";
import { type HeddleError, MemorySnapshotStore, partitionOf } from "../../src/kernel/index.js";
import { DAWN } from "../support/sim-clock.js";
import { flow, type ProcessOptions, unhandledRejections, World } from "../support/world.js";

const gated = flow("gated", async (ctx) => ctx.suspend({ on: "gate" }));
const codes = (results: readonly PromiseSettledResult<unknown>[]): string[] =>
  results.map((result) => (result.status === "fulfilled" ? "ok" : (result.reason as HeddleError).code));

/** A process that notes what its store complained of. */
function noting(): { options: ProcessOptions; failures: string[] } {
  const failures: string[] = [];
  return {
    failures,
    options: { onStorageError: (_id, error) => failures.push((error as HeddleError).code) },
  };
}

describe("C-LOG-02, P4: a log that fails", () => {
  test("commits that fail are told to everyone who waits; nothing refused appears later; it goes on by itself", async () => {
    const rejections = unhandledRejections();
    const world = World.memory();
    const { options, failures } = noting();
    const work = world.step("work", () => world.delay(10));
    const f = flow("f", async (ctx) => {
      await ctx.run(work, 1);
      return ctx.suspend({ on: "gate" });
    });
    const process = await world.open([f], options);
    await process.start(f, null, "before");
    await world.until(process.runtime.handle("before").waitForSuspend());

    process.store.failure = new Error("the disk is full");
    const { runtime } = process;
    const attempts = [
      runtime.start(f, null, { executionId: "refused" }),
      runtime.start(f, null, { executionId: "refused" }),
      runtime.resume("before", { eventType: "gate", payload: 1 }),
      runtime.resume("before", { eventType: "gate", payload: 2, requestId: "r" }),
      runtime.cancel("before"),
      runtime.handle("before").waitForCompletion(),
    ];
    expect(new Set(codes(await world.until(Promise.allSettled(attempts))))).toEqual(
      new Set(["STORAGE_FAILED"]),
    );
    // While it is down everything is refused at once, and reads still answer.
    const refused = [
      runtime.start(f, null),
      runtime.resume("before", { eventType: "gate" }),
      runtime.cancel("before"),
      runtime.handle("before").settled(),
    ];
    expect(codes(await Promise.allSettled(refused))).toEqual(Array(4).fill("STORAGE_FAILED"));
    expect((await runtime.loadState("before")).status).toBe("suspended");

    // It probes, with longer and longer pauses, and does not spin.
    const fired = world.clock.fired;
    await world.pass(10 * 60_000);
    expect(world.clock.fired - fired).toBeLessThan(40);
    expect(failures).toEqual(["STORAGE_FAILED"]);

    process.store.failure = undefined;
    await world.pass(60_000);
    expect(process.warnings).toEqual([expect.stringContaining("takes writes again")]);
    await expect(world.until(runtime.loadState("refused"))).rejects.toMatchObject({
      code: "EXECUTION_UNKNOWN",
    });
    expect((await process.finish("before", { gate: 3 })).variables["_output"]).toBe(3);
    await process.start(f, null, "after");
    expect((await process.finish("after", { gate: 4 })).status).toBe("completed");
    expect(world.ran("work", "before")).toBe(1);
    expect(rejections).toEqual([]);
  });

  test("a step whose outcome could not be recorded runs again, with another attempt number", async () => {
    const world = World.memory();
    const attempts: number[] = [];
    const step = world.step("s", async (_input, { attempt }) => {
      attempts.push(attempt);
      await world.delay(10);
      return attempt;
    });
    const f = flow("f", async (ctx) => ctx.run(step, 1));
    const process = await world.open([f]);
    await process.start(f, null);
    process.store.failure = new Error("no");
    await world.pass(100);
    process.store.failure = undefined;
    expect((await process.finish("x")).variables["_output"]).toBe(2);
    expect(attempts).toEqual([1, 2]);
  });

  test("timers that came due meanwhile fire once it goes on", async () => {
    const world = World.memory();
    const sleeper = flow("sleeper", async (ctx) => ctx.sleep(5_000));
    const process = await world.open([sleeper, gated]);
    await process.start(sleeper, null);
    process.store.failure = new Error("no");
    await expect(world.until(process.runtime.start(gated, null))).rejects.toMatchObject({
      code: "STORAGE_FAILED",
    });
    await world.pass(10_000);
    process.store.failure = undefined;
    expect((await process.finish("x")).status).toBe("completed");
  });

  test("reads that fail leave nobody waiting either", async () => {
    const rejections = unhandledRejections();
    const world = World.memory();
    const { options, failures } = noting();
    const first = await world.open([gated]);
    for (const id of ["a", "b"]) await world.until((await first.start(gated, null, id)).waitForSuspend());
    const process = await world.restart([gated], options);
    const { runtime } = process;
    process.store.readFailure = new Error("unreadable");
    const attempts = [
      runtime.start(gated, null, { executionId: "new" }),
      runtime.start(gated, null),
      runtime.resume("a", { eventType: "gate" }),
      runtime.resume("b", { eventType: "gate", requestId: "r" }),
      runtime.cancel("a"),
    ];
    expect(new Set(codes(await world.until(Promise.allSettled(attempts))))).toEqual(
      new Set(["STORAGE_FAILED"]),
    );
    expect(failures).toEqual(["STORAGE_FAILED"]);
    process.store.readFailure = undefined;
    await world.pass(60_000);
    expect((await process.finish("a", { gate: 1 })).status).toBe("completed");
    expect((await process.finish("b", { gate: 1 })).status).toBe("completed");
    expect(rejections).toEqual([]);
  });

  test("a start in the very pass whose reads fail is told", async () => {
    const world = World.memory();
    const first = await world.open([gated]);
    await world.until((await first.start(gated, null, "parked")).waitForSuspend());
    const process = await world.restart([gated]);
    const log = process.store;
    // The start needs no read, the resume of the parked one does: both stand in one pass.
    const started = process.runtime.start(gated, null);
    const resumed = process.runtime.resume("parked", { eventType: "gate" });
    await null;
    log.readFailure = new Error("unreadable");
    expect(codes(await world.until(Promise.allSettled([started, resumed])))).toEqual([
      "STORAGE_FAILED",
      "STORAGE_FAILED",
    ]);
  });
});

describe("observers", () => {
  test("events are told when appended and again when durable, in order, and hooks that fail hurt nobody", async () => {
    const rejections = unhandledRejections();
    const world = World.memory();
    const appended: string[] = [];
    const durable: string[] = [];
    const step = world.step("s", () => 1);
    const f = flow("f", async (ctx) => ctx.run(step, 1));
    const warnings: string[] = [];
    const process = await world.open([f], {
      onEvent: ({ type }) => {
        appended.push(type);
        throw new Error("onEvent fails");
      },
      // oxlint-disable-next-line typescript/no-misused-promises -- a hook that rejects is what this is about
      onDurableEvent: async ({ type }) => {
        durable.push(type);
        throw new Error("onDurableEvent fails");
      },
      onWarn: (message) => {
        warnings.push(message);
        throw new Error("even onWarn fails");
      },
    });
    await process.start(f, null);
    expect((await process.finish("x")).status).toBe("completed");
    await world.settle();
    expect(appended).toEqual(await world.types());
    expect(durable).toEqual(await world.types());
    expect(new Set(warnings)).toEqual(
      new Set([
        "observability.onEvent threw: onEvent fails",
        "observability.onDurableEvent threw: onDurableEvent fails",
      ]),
    );
    expect(rejections).toEqual([]);
  });

  test("what is refused is never told as durable", async () => {
    const world = World.memory();
    const durable: string[] = [];
    const process = await world.open([gated], {
      onDurableEvent: ({ type }) => void durable.push(type),
      onStorageError: () => {
        throw new Error("and so does this hook");
      },
    });
    process.store.failure = new Error("no");
    await expect(world.until(process.runtime.start(gated, null))).rejects.toMatchObject({
      code: "STORAGE_FAILED",
    });
    expect(durable).toEqual([]);
  });
});

describe("snapshots", () => {
  test("one is kept every so many events, shortens the fold, and changes nothing of it", async () => {
    const world = World.memory();
    const saved: number[] = [];
    class Counting extends MemorySnapshotStore {
      override async save(snapshot: Parameters<MemorySnapshotStore["save"]>[0]): Promise<void> {
        saved.push(snapshot.sequence);
        await super.save(snapshot);
      }
    }
    const snapshotStore = new Counting();
    const f = flow<number>("f", async (ctx, count) => {
      for (let i = 0; i < count; i++)
        await ctx.run(
          world.step(`s#${i}`, () => i),
          i,
        );
      await ctx.suspend({ on: "gate" });
    });
    const process = await world.open([f], { snapshotEvery: 10, snapshotStore });
    await process.start(f, 1, "short");
    await world.until(process.runtime.handle("short").waitForSuspend());
    expect(saved).toEqual([]);
    await process.start(f, 30, "long");
    const live = await world.until(process.runtime.handle("long").waitForSuspend());
    await world.settle();
    expect(saved.length).toBeGreaterThanOrEqual(5);
    expect(saved.length).toBeLessThanOrEqual(7);
    expect(await process.runtime.loadState("long")).toEqual(live);
    const plain = await world.restart([f]);
    expect(await plain.runtime.loadState("long")).toEqual(live);
  });

  test("a snapshot that cannot be saved is reported, and costs nothing else", async () => {
    const rejections = unhandledRejections();
    const world = World.memory();
    const reports: unknown[][] = [];
    class Failing extends MemorySnapshotStore {
      override save(): Promise<void> {
        return Promise.reject(new Error("no room"));
      }
    }
    const f = flow("f", async (ctx) =>
      ctx.run(
        world.step("s", () => 1),
        1,
      ),
    );
    const process = await world.open([f], {
      snapshotEvery: 2,
      snapshotStore: new Failing(),
      onStorageError: (id, error) => reports.push([id, (error as Error).message]),
    });
    await process.start(f, null);
    expect((await process.finish("x")).status).toBe("completed");
    expect(reports.length).toBeGreaterThan(0);
    expect(new Set(reports.map((report) => report.join()))).toEqual(new Set(["x,no room"]));
    expect(rejections).toEqual([]);
  });
});

describe("several partitions", () => {
  test.each([
    ["memory", () => World.memory(4)],
    ["LMDB", () => World.lmdb(4)],
  ])(
    "executions live where their id says, and are recovered from all of them, on %s",
    async (_, makeWorld) => {
      const world = makeWorld();
      const f = flow("f", async (ctx) => [
        await ctx.run(
          world.step("s", () => 1),
          1,
        ),
        await ctx.suspend({ on: "gate" }),
      ]);
      const ids = Array.from({ length: 40 }, (__, i) => `x${i}`);
      expect(new Set(ids.map((id) => partitionOf(id, 4))).size).toBe(4);
      let process = await world.open([f]);
      await world.until(
        Promise.all(ids.map((executionId) => process.runtime.start(f, null, { executionId }))),
      );
      process = await world.restart([f]);
      for (const id of ids)
        expect((await process.finish(id, { gate: id })).variables["_output"]).toEqual([1, id]);
      expect((await process.runtime.list({ status: "completed" })).length).toBe(40);
      expect(new Set(world.runs.values())).toEqual(new Set([1]));
    },
  );

  test("a flow registered while the directory is still being opened is not missed", async () => {
    const world = World.memory(2);
    const id = ["a", "b", "c", "d"].find((name) => partitionOf(name, 2) === 0)!;
    const first = await world.open([gated]);
    await world.until((await first.start(gated, null, id)).waitForSuspend());
    await first.kill();
    const process = world.prepare([]);
    let goOn = (): void => {};
    process.store.beforeOpen = (partition) =>
      partition === 1 ? new Promise((resolve) => (goOn = resolve)) : Promise.resolve();
    const opened = process.runtime.open();
    await world.settle();
    process.register([gated]);
    goOn();
    await world.until(opened);
    await world.settle();
    expect(await process.runtime.list({ status: "setAside" })).toEqual([]);
    expect((await process.finish(id, { gate: 1 })).status).toBe("completed");
  });
});

describe("opening and closing", () => {
  test("calls before start() say so; closed is closed; both can be called again", async () => {
    const world = World.memory();
    const process = world.prepare([gated]);
    const { runtime } = process;
    await expect(runtime.start(gated, null, { executionId: "x" })).rejects.toMatchObject({
      code: "RUNTIME_NOT_STARTED",
    });
    await expect(runtime.loadState("x")).rejects.toMatchObject({ code: "RUNTIME_NOT_STARTED" });
    await world.until(Promise.all([runtime.open(), runtime.open()]));
    await world.until((await process.start(gated, null)).waitForSuspend());
    const waiting = runtime.handle("x").waitForCompletion();
    await Promise.all([world.until(runtime.close()), runtime.close()]);
    await expect(waiting).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
    for (const call of [
      () => runtime.start(gated, null),
      () => runtime.resume("x", { eventType: "gate" }),
      () => runtime.cancel("x"),
      () => runtime.loadState("x"),
      () => runtime.open(),
      () => runtime.handle("x").settled(),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
    }
    const next = await world.restart([gated]);
    expect((await next.finish("x", { gate: 1 })).status).toBe("completed");
  });

  test("C-LIF-04: steps in flight may end until the deadline; then they are aborted, and run again at the next open", async () => {
    const world = World.memory();
    const aborted: unknown[] = [];
    const step = (id: string, ms: number) =>
      world.step(id, async (_input, { signal }) => {
        signal.addEventListener("abort", () => aborted.push(id));
        await world.delay(ms);
        return id;
      });
    const [quick, slow] = [step("quick", 1_000), step("slow", 20_000)];
    const f = flow("f", async (ctx) =>
      ctx.parallel([
        [quick, 1],
        [slow, 1],
      ]),
    );
    const process = await world.open([f]);
    await process.start(f, null);
    await world.when(() => world.ran("slow") === 1);
    await world.until(process.runtime.close({ deadlineMs: 5_000 }));
    expect(world.clock.now).toBe(DAWN + 5_000);
    expect(aborted).toEqual(["slow"]);
    expect(await world.types()).toEqual([
      "EXECUTION_STARTED",
      "STEP_STARTED",
      "STEP_STARTED",
      "STEP_COMPLETED",
    ]);
    const next = await world.restart([f]);
    expect(await next.finish("x")).toMatchObject({
      variables: { _output: ["quick", "slow"] },
      frames: { slow: { attempts: 2 } },
    });
    expect([world.ran("quick"), world.ran("slow")]).toEqual([1, 2]);
  });

  test("closing a runtime that was never opened, or whose opening failed, is fine", async () => {
    const world = World.memory();
    await world.until(world.prepare([]).runtime.close());
    const holder = await world.open([gated]);
    const second = world.prepare([gated]);
    await expect(world.until(second.runtime.open())).rejects.toMatchObject({ code: "PARTITION_LOCKED" });
    await expect(second.runtime.start(gated, null)).rejects.toMatchObject({ code: "PARTITION_LOCKED" });
    await world.until(second.runtime.close());
    await holder.kill();
  });
});
