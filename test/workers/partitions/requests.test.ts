// What a host can do with executions, it can do with those in threads: the same answers, the same errors, the same values.

import { deepStrictEqual } from "node:assert/strict";
import * as fc from "fast-check";
import {
  HeddleError,
  hasCode,
  lmdbStorage,
  OverloadedError,
  PartitionLockedError,
  type RegisteredFlow,
  ResumePayloadValidationError,
} from "heddle";
import { describe, expect, it } from "vitest";
import { fromWire, toWire } from "../../../src/kernel/index.js";
import { anyValue, spoil } from "../../kernel/codec/values.js";
import { errorOf, FLOWS, flowOf, openApp, temporaryDirectory, within } from "./world.js";

describe("starting", () => {
  it("runs a flow in the thread of its partition, and answers from there", async () => {
    const app = openApp();
    const ids = Array.from({ length: 40 }, (_, i) => `x${i}`);
    const handles = await Promise.all(
      ids.map((executionId) => app.runtime.start(flowOf("thread"), 0, { executionId })),
    );
    const threads = await within(Promise.all(handles.map((handle) => handle.result())), "results");
    expect(new Set(threads).size).toBe(2);
    expect(threads).not.toContain(0); // the host's thread
    const stats = await app.workers.stats();
    expect(stats.actors.map(({ partitions }) => partitions)).toEqual([
      [0, 2],
      [1, 3],
    ]);
    const listed = await app.runtime.list({ limit: 100 });
    expect(listed.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  });

  it("attaches to the execution that has the id, flow and input, and refuses any other (C-LIF-05)", async () => {
    const app = openApp();
    const starts = Array.from({ length: 100 }, () =>
      app.runtime.start(flowOf("gated"), "a", { executionId: "one" }),
    );
    await within(Promise.all(starts), "starts");
    const refused = await errorOf(app.runtime.start(flowOf("gated"), "b", { executionId: "one" }));
    expect(refused).toBeInstanceOf(HeddleError);
    expect(refused).toMatchObject({ code: "EXECUTION_CONFLICT", details: { executionId: "one" } });
    expect(await errorOf(app.runtime.start(flowOf("echo"), "a", { executionId: "one" }))).toMatchObject({
      code: "EXECUTION_CONFLICT",
    });
    expect((await app.stores.eventStore.read("one")).length).toBe(2);
  });

  it("checks inputs in the host, before anything crosses", async () => {
    const app = openApp();
    expect(await errorOf(app.runtime.start(flowOf("strict"), { n: "one" }))).toMatchObject({
      code: "INPUT_INVALID",
    });
    expect(await errorOf(app.runtime.start(flowOf("echo"), { deep: { cb() {} } }))).toMatchObject({
      code: "VALUE_NOT_RECORDABLE",
    });
    expect(
      await errorOf(app.runtime.start({ definition: { id: "nobody" } } as RegisteredFlow, 0)),
    ).toMatchObject({
      code: "FLOW_UNKNOWN",
    });
    expect(await errorOf(app.runtime.start(flowOf("echo"), 0, { executionId: "" }))).toMatchObject({
      code: "ID_INVALID",
    });
  });

  it("runs the effects and the middleware the module exports", async () => {
    const app = openApp();
    const handle = await app.runtime.start(flowOf("effectful"), "hey");
    expect(await within(handle.result(), "result")).toEqual(["[hey!]", "hey"]);
  });
});

describe("an execution in a thread", () => {
  it("is watched to a gate, resumed and watched to its end", async () => {
    const app = openApp();
    const handle = await app.runtime.start(flowOf("gated"), "a", { executionId: "one" });
    const state = await within(handle.waitForSuspend(), "the gate");
    expect(state).toMatchObject({ status: "suspended", sequence: 1, workflowId: "gated", input: "a" });
    await app.runtime.resume("one", { eventType: "Go", payload: { word: "b" }, requestId: "r1" });
    await app.runtime.resume("one", { eventType: "Go", payload: { word: "b" }, requestId: "r1" }); // a repeat
    expect(await within(handle.waitForCompletion(), "the end")).toMatchObject({
      status: "completed",
      variables: { _output: "a: b" },
    });
    expect(await handle.result()).toBe("a: b");
    expect(await handle.settled()).toMatchObject({ status: "completed" });
    expect(
      await errorOf(app.runtime.resume("one", { eventType: "Go", payload: { word: "c" } })),
    ).toMatchObject({ code: "GATE_ALREADY_RESOLVED" });
    expect(await errorOf(handle.waitForSuspend())).toMatchObject({ code: "EXECUTION_ENDED" });
  });

  it("gives a watcher the state it waited for, also when it has gone on since", async () => {
    const app = openApp();
    const handle = await app.runtime.start(flowOf("twoGates"), 0);
    const first = handle.waitForSuspend();
    await first;
    const { executionId } = handle;
    const states = await Promise.all([
      handle.waitForSuspend(),
      app.runtime.resume(executionId, { eventType: "First", payload: 1 }),
    ]);
    expect(states[0].sequence).toBe(1);
    await app.runtime.resume(executionId, { eventType: "Second", payload: 2 });
    expect(await handle.result()).toEqual([1, 2]);
  });

  it("refuses what does not fit, with the error's own class and fields", async () => {
    const app = openApp();
    await (await app.runtime.start(flowOf("gated"), "a", { executionId: "one" })).waitForSuspend();
    const invalid = await errorOf(app.runtime.resume("one", { eventType: "Go", payload: { word: 5 } }));
    expect(invalid).toBeInstanceOf(ResumePayloadValidationError);
    expect(invalid).toMatchObject({ code: "RESUME_PAYLOAD_INVALID", issues: [{ path: "word" }] });
    expect(await errorOf(app.runtime.resume("one", { eventType: "Other" }))).toMatchObject({
      code: "GATE_NOT_OPEN",
    });
    for (const asked of [
      app.runtime.resume("nobody", { eventType: "Go" }),
      app.runtime.cancel("nobody"),
      app.runtime.loadState("nobody"),
      app.runtime.handle("nobody").result(),
      app.runtime.handle("nobody").waitForCompletion(),
    ])
      expect(await errorOf(asked)).toMatchObject({ code: "EXECUTION_UNKNOWN" });
  });

  it("fails with the flow's own error, and is cancelled with its reason", async () => {
    const app = openApp();
    const failed = await errorOf((await app.runtime.start(flowOf("failing"), 0)).result());
    expect(failed).toBeInstanceOf(HeddleError);
    expect(failed).toMatchObject({
      code: "EXECUTION_FAILED",
      retryable: false,
      cause: { name: "RangeError", message: "out of range", limit: 7, cause: { message: "deeper" } },
    });
    expect(failed.cause).toBeInstanceOf(RangeError);
    const handle = await app.runtime.start(flowOf("stuck"), {}, { executionId: "stuck" });
    await app.runtime.cancel("stuck", "not wanted");
    await app.runtime.cancel("stuck");
    const cancelled = await errorOf(handle.result());
    expect(hasCode(cancelled, "EXECUTION_CANCELLED")).toBe(true);
    expect(cancelled.message).toContain("not wanted");
    expect(await handle.getState()).toMatchObject({ status: "cancelled", reason: "not wanted" });
  });

  it("sleeps, and wakes in its thread", async () => {
    const app = openApp();
    const handle = await app.runtime.start(flowOf("sleeping"), 30);
    expect(await within(handle.result(), "result")).toBe("awake");
  });

  it("shows its surfaces to the host", async () => {
    const app = openApp({ surfaces: ["main"] });
    const handle = await app.runtime.start(flowOf("shown"), { n: 1 }, { executionId: "one" });
    await handle.result();
    expect(app.projectionRuntime.getState("main", "one")).toEqual({ value: { n: 1 } });
  });

  it("is found by the next opening, with threads or without them", async () => {
    const dir = temporaryDirectory();
    const app = openApp({ dir });
    await app.runtime.start(flowOf("gated"), "a", { executionId: "one" });
    await app.close();
    const local = openApp({ dir, workers: { actors: 0 } });
    await local.runtime.resume("one", { eventType: "Go", payload: { word: "b" } });
    expect(await local.runtime.handle("one").result()).toBe("a: b");
    await local.close();
    const again = openApp({ dir, workers: { actors: 1 } });
    expect(await again.runtime.handle("one").result()).toBe("a: b");
  });

  it("keeps snapshots that the host reads too", async () => {
    const app = openApp({ durability: { snapshotEvery: 10 } });
    const handle = await app.runtime.start(flowOf("count"), 30, { executionId: "one" });
    expect(await within(handle.result(), "result")).toBe(435);
    await within(
      (async () => {
        while (!(await app.stores.snapshotStore.load("one")));
      })(),
      "a snapshot",
    );
    const state = await app.runtime.loadState("one");
    expect(Object.keys(state.frames).length).toBe(30);
    expect(state.variables["_output"]).toBe(435);
  });
});

describe("bounds", () => {
  it("hold in each thread: what is over them is refused, or waits, and shows in the figures", async () => {
    const inputs = Array.from({ length: 20 }, () => ({ ms: 50, value: 1 }));
    const refusing = openApp({ execution: { maxInFlight: 4, admission: "reject" } });
    const starts = await Promise.allSettled(
      inputs.map((input) => refusing.runtime.start(flowOf("waiting"), input)),
    );
    const refused = starts.flatMap((start) => (start.status === "rejected" ? [start.reason as Error] : []));
    expect(refused.length).toBeGreaterThanOrEqual(16);
    expect(refused[0]).toBeInstanceOf(OverloadedError);
    expect(refused[0]).toMatchObject({ code: "OVERLOADED", retryable: true });

    const waiting = openApp({ execution: { maxInFlight: 4 } });
    const handles = inputs.map((input) => waiting.runtime.start(flowOf("waiting"), input));
    await Promise.race(handles);
    const { actors } = await waiting.workers.stats();
    expect(actors.map(({ executionsAtWork = 9 }) => executionsAtWork <= 2)).toEqual([true, true]);
    expect(actors.reduce((sum, { startsWaiting = 0 }) => sum + startsWaiting, 0)).toBeGreaterThan(0);
    for (const handle of await Promise.all(handles)) await within(handle.result(), "every one runs");
  });
});

describe("a pool beside the partition threads", () => {
  it("runs the effects its module exports, in threads of its own", async () => {
    const app = openApp({
      workers: {
        effects: { module: new URL("./programs/pool-effects.mjs", import.meta.url), maxThreads: 2 },
      },
    });
    const handles = await Promise.all(
      Array.from({ length: 8 }, (_, i) => app.runtime.start(flowOf("pooled"), 0, { executionId: `x${i}` })),
    );
    const places = (await within(Promise.all(handles.map((handle) => handle.result())), "results")) as {
      actor: number;
      effect: number;
    }[];
    expect(new Set(places.map(({ actor }) => actor)).size).toBe(2);
    expect(places.some(({ actor, effect }) => actor === effect)).toBe(false);
    const missing = openApp({
      workers: { effects: { module: new URL("./programs/nowhere.mjs", import.meta.url) } },
    });
    expect(await errorOf(missing.start())).toMatchObject({ code: "CONFIG_INVALID" });
    await within(app.close(), "close");
  });
});

describe("reading beside the threads", () => {
  it("sees what was answered, at once, while others write (H2)", async () => {
    const app = openApp();
    let isOver = false;
    const load = async (): Promise<void> => {
      while (!isOver) await (await app.runtime.start(flowOf("count"), 3)).result();
    };
    const loads = Array.from({ length: 20 }, load);
    for (let i = 0; i < 200; i++) {
      const executionId = `seen-${i}`;
      const handle = await app.runtime.start(flowOf("gated"), i, { executionId });
      const events = app.stores.eventStore.readSync?.(executionId) ?? [];
      expect(events[0]).toMatchObject({ type: "EXECUTION_STARTED", payload: { input: i } });
      expect(await app.stores.eventStore.find(executionId)).toMatchObject({ id: executionId });
      await handle.waitForSuspend();
      await app.runtime.resume(executionId, { eventType: "Go", payload: { word: "w" } });
      const seen = (await app.stores.eventStore.read(executionId)).map(({ type }) => type);
      expect(seen).toContain("EXECUTION_RESUMED");
      expect((await app.runtime.loadState(executionId)).sequence).toBeGreaterThanOrEqual(3);
    }
    isOver = true;
    await Promise.all(loads);
  });

  it("leaves ownership where it is: another app is refused by its name", async () => {
    const dir = temporaryDirectory();
    const app = openApp({ dir });
    await app.start();
    const refused = await errorOf(openApp({ dir }).start());
    expect(refused).toBeInstanceOf(PartitionLockedError);
    expect(refused).toMatchObject({ details: { owner: { pid: process.pid } }, retryable: true });
    const local = openApp({ dir, workers: { actors: 0 } });
    expect(await errorOf(local.start())).toBeInstanceOf(PartitionLockedError);
    await app.close();
    await local.start(); // a refused opening may be tried again
  });
});

describe("values across threads (C-EFF-04)", () => {
  it("come out as they went in, and nothing of the caller's is touched", async () => {
    const app = openApp();
    await fc.assert(
      fc.asyncProperty(fc.array(anyValue, { minLength: 1, maxLength: 10 }), async (values) => {
        const wire = toWire(values);
        const fresh = (): unknown => fromWire(wire);
        const passed = async <T>(call: (argument: unknown) => Promise<T>): Promise<T> => {
          const argument = fresh();
          const answered = call(argument);
          spoil(argument); // what was sent is sent
          return answered;
        };
        const handle = await passed((argument) => app.runtime.start(flowOf("values"), argument));
        const { executionId } = handle;
        const suspended = await handle.waitForSuspend();
        deepStrictEqual(suspended.input, fresh());
        await passed((payload) => app.runtime.resume(executionId, { eventType: "Value", payload }));
        deepStrictEqual(await handle.result(), fromWire(toWire({ seen: fresh(), word: fresh() })));
        deepStrictEqual((await handle.getState()).frames["work"]?.output, fresh());
        const events = await app.stores.eventStore.read(executionId);
        deepStrictEqual(events.find(({ type }) => type === "value.seen")?.payload, fresh());
      }),
      { numRuns: 60 },
    );
  });

  it("detach nothing, and drag no pool of small buffers along", async () => {
    const app = openApp();
    const bytes = Buffer.from("ten bytes!");
    const pool = bytes.buffer.byteLength;
    const handle = await app.runtime.start(flowOf("echo"), { bytes });
    const result = (await handle.result()) as { bytes: Buffer };
    expect(bytes.buffer.byteLength).toBe(pool);
    expect(bytes.toString()).toBe("ten bytes!");
    expect(Buffer.from("still whole").toString()).toBe("still whole");
    expect(Buffer.from(result.bytes).toString()).toBe("ten bytes!");
    expect(result.bytes.buffer.byteLength).toBeLessThan(1_000);
  });

  it("are as large as they may be", async () => {
    const app = openApp({ execution: { maxValueBytes: 4_000_000 } });
    const handle = await app.runtime.start(flowOf("large"), 3_900_000);
    expect(((await within(handle.result(), "result")) as string).length).toBe(3_900_000);
    const refused = await errorOf((await app.runtime.start(flowOf("large"), 4_100_000)).result());
    expect(refused.cause).toMatchObject({ code: "VALUE_TOO_LARGE" });
  });
});

describe("the module", () => {
  it("may be named by URL, by its text, or by a path", async () => {
    for (const app of [FLOWS, FLOWS.href, FLOWS.pathname]) {
      const opened = openApp({ workers: { app } });
      expect(await within((await opened.runtime.start(flowOf("echo"), 1)).result(), "result")).toBe(1);
    }
    const { actors } = await openApp().workers.inspect();
    expect(actors.map(({ partitions }) => partitions)).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  it("gets as many partitions in a new directory as there are threads, when nobody says", async () => {
    const storage = lmdbStorage({ dir: temporaryDirectory() });
    const app = openApp({ storage, workers: { actors: 3 } });
    expect(app.stores.eventStore).toMatchObject({ partitions: 3 });
    await app.start();
    expect(await (await app.runtime.start(flowOf("echo"), 1)).result()).toBe(1);
  });
});
