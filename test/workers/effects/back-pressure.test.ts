// C-EFF-03 in an app: what there is no room for waits as an open step of its execution, in turns with other executions, and
// the pool holds no more than it was told to.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { HeddleApp } from "heddle";
import { beforeAll, describe, expect, it } from "vitest";
import { errorOf, until, within } from "../partitions/world.js";
import { eventsOf, flowOf, openApp, outsideCount, typesOf } from "./world.js";

const STEPS = 100_000;
const POOL = { minThreads: 2, maxThreads: 2, callsPerThread: 8, maxQueue: 8 };
/** What the pool may have at once: the calls its threads hold, and its queue. */
const CALLS_MAX = POOL.maxThreads * POOL.callsPerThread + POOL.maxQueue;
/**
 * A step that waits is a promise of its flow, an entry among the open steps of its execution and a place in line: 1.3 KiB
 * when this was written. Were it a call already, its packet and its place in the pool would come on top.
 */
const BYTES_A_STEP = 2_600;
const MIB = 1024 * 1024;

let collect: () => void;
beforeAll(() => {
  setFlagsFromString("--expose-gc");
  collect = runInNewContext("gc") as () => void;
});

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** An app where one execution has fanned out, every one of its requests durable, its first steps under way. */
async function crowded(input?: object) {
  const counts = { requested: 0, completed: 0 };
  const app = openApp({
    pool: POOL,
    observability: {
      onDurableEvent({ executionId, type }) {
        if (executionId !== "crowd") return;
        if (type === "STEP_STARTED") counts.requested++;
        if (type === "STEP_COMPLETED") counts.completed++;
      },
    },
  });
  await app.start();
  const heapBefore = heapUsed();
  const crowd = await app.runtime.start(flowOf("wide"), { steps: STEPS, input }, { executionId: "crowd" });
  await until(() => counts.requested === STEPS && counts.completed > 0, "the crowd is there");
  return { app, crowd, counts, heapBefore };
}

async function runSingle(app: HeddleApp): Promise<number> {
  const startedAt = performance.now();
  const handle = await app.runtime.start(flowOf("single"), { toolId: "echo", input: 1 });
  expect(await within(handle.result(), "the single step")).toBe(1);
  return performance.now() - startedAt;
}

describe(`C-EFF-03: beside ${STEPS} steps of one execution`, () => {
  it("another's single step gets its turn, the pool keeps its bounds, and memory keeps to what waiting costs", {
    timeout: 120_000,
  }, async () => {
    const { app, crowd, counts, heapBefore } = await crowded();
    expect((heapUsed() - heapBefore) / STEPS).toBeLessThan(BYTES_A_STEP);
    for (let n = 0; n < 5; n++) {
      const completedBefore = counts.completed;
      // In time a few passes of the partition; in turns a round of the line, what the pool holds, and what it had done.
      expect(await runSingle(app)).toBeLessThan(2_000);
      expect(counts.completed - completedBefore).toBeLessThan(5_000);
      const { effects, host } = await app.workers.stats();
      expect((effects?.queued ?? Infinity) + (effects?.running ?? Infinity)).toBeLessThanOrEqual(CALLS_MAX);
      expect(host?.load.heldBack).toBeGreaterThan(STEPS / 2);
    }
    expect(await within(crowd.result(), "the crowd", 100_000)).toBe(STEPS);
    // Nothing was ever refused by the pool and tried again.
    expect((await typesOf(app, "crowd")).filter((type) => /RETRIED|FAILED/.test(type))).toEqual([]);
    expect((await app.workers.stats()).effects).toMatchObject({ done: STEPS + 5, queued: 0, running: 0 });
    expect(heapUsed() - heapBefore).toBeLessThan(64 * MIB);
  });

  it("a cancel takes all of them away: what has not begun never does, and the room is there at once", {
    timeout: 60_000,
  }, async () => {
    const { file, marks } = outsideCount();
    const { app, crowd, heapBefore } = await crowded({ file });
    await app.runtime.cancel("crowd", "too many");
    const begun = marks().length;
    expect(await within(crowd.waitForCompletion(), "the end")).toMatchObject({ status: "cancelled" });
    await runSingle(app);
    expect((await app.workers.stats()).host?.load).toMatchObject({ heldBack: 0, attempts: 0 });
    await app.close();
    // Those that the pool had when the cancel became durable may have run.
    expect(marks().length - begun).toBeLessThanOrEqual(CALLS_MAX);
    expect(marks().length).toBeLessThan(STEPS / 2);
    expect(heapUsed() - heapBefore).toBeLessThan(64 * MIB);
  });
});

describe("C-EFF-03: a timeout counts from when the step runs", () => {
  const timed = (toolId: string, input: object) => ({
    id: "timed",
    toolId,
    input,
    options: { timeoutMs: 1_000 },
  });

  it.each([
    ["in the log", 0],
    ["in the queue of the pool", 16],
  ])("so one that has waited longer than that %s is not cut short", async (_where, maxQueue) => {
    const { file, marks } = outsideCount();
    const app = openApp({ pool: { maxThreads: 1, callsPerThread: 1, maxQueue } });
    const blocker = { toolId: "work", input: { file, ms: 1_600, value: "over" } };
    const blocking = await app.runtime.start(flowOf("single"), blocker);
    await until(() => marks().length === 1, "the thread is taken");
    const startedAt = performance.now();
    const waiting = await app.runtime.start(flowOf("single"), timed("echo", { file }));
    expect(await within(waiting.result(), "the one that waits")).toEqual({ file });
    expect(performance.now() - startedAt).toBeGreaterThan(1_200);
    expect(await blocking.result()).toBe("over");
    expect(marks().map(({ what, attempt }) => `${what} ${attempt}`)).toEqual(["begin 1", "end 1", "echo 1"]);
    expect(await typesOf(app, waiting.executionId)).not.toContain("STEP_RETRIED");
  });

  it("and one that runs longer than that is", async () => {
    const app = openApp({ pool: { maxThreads: 1, callsPerThread: 1, maxQueue: 0 } });
    const handle = await app.runtime.start(flowOf("single"), timed("work", { ms: 60_000, file: "" }));
    const error = await within(errorOf(handle.result()), "the timeout");
    expect(error.cause).toMatchObject({ code: "EFFECT_TIMED_OUT" });
    const events = await eventsOf(app, handle.executionId);
    expect(events.some(({ type }) => type === "STEP_FAILED")).toBe(true);
  });
});
