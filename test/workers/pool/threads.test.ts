// Threads: how many there are, who gets which call, and what they do when there is nothing to do.

import { describe, expect, it } from "vitest";
import type { EffectPool } from "../../../src/workers/pool/index.js";
import { callOf, markFile, openPool, until } from "./world.js";

async function threadsOf(pool: EffectPool): Promise<number> {
  return (await pool.stats()).threads.length;
}

describe("a pool", () => {
  it("starts with minThreads, and adds threads while work waits, up to maxThreads", async () => {
    const pool = await openPool({ minThreads: 1, maxThreads: 3, callsPerThread: 1 });
    expect(await threadsOf(pool)).toBe(1);
    const calls = Array.from({ length: 12 }, () => pool.call(callOf("sleep", { ms: 150 })));
    await until(() => pool.hasRoom, "there is room");
    await Promise.all(calls.slice(0, 9));
    expect(await threadsOf(pool)).toBe(3);
    await Promise.all(calls);
  });

  it("adds no thread for calls that only wait for the world", async () => {
    const pool = await openPool({ minThreads: 1, maxThreads: 3 });
    await Promise.all(Array.from({ length: 20 }, () => pool.call(callOf("sleep", { ms: 300 }))));
    expect(await threadsOf(pool)).toBe(1);
  });

  it("moves calls that have not started to a thread that is free, and runs each once", async () => {
    const pool = await openPool({ minThreads: 1, maxThreads: 2 });
    const { mark, lines } = markFile();
    // All of them are sent to the one thread there is.
    const calls = Array.from({ length: 8 }, (_, n) =>
      pool.call(callOf("burn", { ms: 150, mark, name: `n${n}`, value: n })),
    );
    expect(await Promise.all(calls)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(lines().toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((n) => `n${n}`));
    expect(await threadsOf(pool)).toBe(2);
    const { threads } = await pool.stats();
    expect(threads.map(({ utilisation }) => utilisation >= 0 && utilisation <= 1)).toEqual([true, true]);
  });

  it("ends threads beyond minThreads that stay idle", async () => {
    const pool = await openPool({ minThreads: 1, maxThreads: 3, idleTimeoutMs: 50, callsPerThread: 1 });
    await Promise.all(Array.from({ length: 12 }, () => pool.call(callOf("sleep", { ms: 60 }))));
    for (let threads = 3; threads > 1; threads = await threadsOf(pool)) await new Promise(setImmediate);
    expect(await pool.call(callOf("echo", 1))).toBe(1);
    expect(await threadsOf(pool)).toBe(1);
  });

  it("C-EFF-02: goes on with what lives in it when it is idle, whether a lane is open on it or not", async () => {
    const pool = await openPool();
    const { mark, lines } = markFile();
    const thread = await pool.call(callOf("thread"));
    await pool.call(callOf("beatFromNowOn", { mark }));
    // Of 5 ms at least each, so that the lane has long been retired.
    await until(() => lines().length > 60, "it beats");
    expect(await pool.call(callOf("thread"))).toBe(thread);
  });

  it("comes back after all its threads ended at once, with nothing to do", async () => {
    const pool = await openPool({ minThreads: 2, maxThreads: 2 });
    const exits = [1, 2].map(() => pool.call(callOf("exitLater", { ms: 20 })).catch(() => {}));
    await Promise.all(exits);
    expect(await pool.call(callOf("echo", 1))).toBe(1);
    await until(() => pool.hasRoom, "there is room");
    expect(await threadsOf(pool)).toBe(2);
  });
});

describe("a thread", () => {
  // Node 20 aborts the process when a thread is ended while `require` links ES modules, as it would on a crash of a
  // neighbour or when the pool closes; Piscina loads by `require` what it can.
  it("loads no ES module of heddle's by require", async () => {
    const pool = await openPool();
    const required = (await pool.call(callOf("required"))) as string[];
    const ours = required.filter((file) => file.includes("/dist/workers/") && !file.includes("node_modules"));
    expect(ours.map((file) => file.split("/").at(-1))).toEqual(["effects.worker.cjs"]);
  });
});

describe("tune", () => {
  it("applies to a pool at work", async () => {
    const pool = await openPool({ callsPerThread: 1, maxQueue: 2, idleTimeoutMs: 50 });
    const first = [1, 2, 3].map((n) => pool.call(callOf("sleep", { ms: 200, value: n })));
    expect(pool.hasRoom).toBe(false);
    pool.tune({ maxThreads: 3, maxQueue: 100 });
    expect(pool.hasRoom).toBe(true);
    const more = Array.from({ length: 30 }, () => pool.call(callOf("sleep", { ms: 200 })));
    for (let threads = 1; threads < 3; threads = await threadsOf(pool)) await new Promise(setImmediate);
    expect(await Promise.all(first)).toEqual([1, 2, 3]);
    await Promise.all(more);
    pool.tune({ maxThreads: 1, callsPerThread: 8 });
    for (let threads = 3; threads > 1; threads = await threadsOf(pool)) await new Promise(setImmediate);
    const crowds = await Promise.all(
      Array.from({ length: 24 }, () => pool.call(callOf("crowd", { ms: 10 }))),
    );
    expect(Math.max(...(crowds as number[]))).toBe(8);
    pool.tune({ minThreads: 2 });
    for (let threads = 1; threads < 2; threads = await threadsOf(pool)) await new Promise(setImmediate);
    expect(await pool.call(callOf("echo", 1))).toBe(1);
  });

  it("refuses nonsense and changes nothing then", async () => {
    const pool = await openPool({ maxThreads: 2 });
    expect(() => pool.tune({ minThreads: 3, maxThreads: 2 })).toThrow(
      "workers.effects.maxThreads is 2, below",
    );
    expect(() => pool.tune({ callsPerThread: 0 })).toThrow(
      "workers.effects.callsPerThread must be a whole number",
    );
    expect(() => pool.tune({ module: "x" } as never)).toThrow("workers.effects.module is no option here");
    expect(await pool.call(callOf("echo", 1))).toBe(1);
    await pool.close();
    expect(() => pool.tune({})).toThrow(expect.objectContaining({ code: "RUNTIME_CLOSED" }) as Error);
  });
});

describe("control", () => {
  it("describes what the module exports", async () => {
    const pool = await openPool();
    expect(pool.effects).toContainEqual({ id: "echo", kind: "tool", placement: "pool", channels: [] });
    expect(pool.effects).toContainEqual({
      id: "model",
      kind: "llm",
      placement: "pool",
      channels: ["refusal"],
    });
    expect(pool.effects).toContainEqual({ id: "placed", kind: "tool", placement: "inline", channels: [] });
  });

  it("shows what runs, where and for how long", async () => {
    const pool = await openPool();
    const { mark, lines } = markFile();
    const running = pool.call(callOf("sleep", { ms: 150, mark, name: "s" }, { stepId: "slow", attempt: 2 }));
    await until(() => lines().length === 1, "it runs");
    const [thread] = await pool.inspect();
    expect(thread?.threadId).toBe(await pool.call(callOf("thread")));
    expect(thread?.calls).toMatchObject([
      { effectId: "sleep", executionId: "execution", stepId: "slow", attempt: 2 },
    ]);
    expect(thread?.calls[0]?.runningMs).toBeGreaterThan(0);
    await running;
  });

  it("answers with figures while threads are busy, and says which did not answer", async () => {
    const pool = await openPool();
    // The thread has to be a little older than new to know what is late.
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => pool.call(callOf("sleep", { ms: 60, value: n }))),
    );
    const calm = await pool.stats();
    expect(calm.threads).toMatchObject([
      { isResponding: true, figures: { heapUsedBytes: expect.any(Number) as number } },
    ]);
    expect(calm).toMatchObject({
      done: 100,
      running: 0,
      queued: 0,
      waitMs: { count: 100 },
      runMs: { count: 100 },
    });
    const { mark, lines } = markFile();
    const burning = pool.call(callOf("burn", { ms: 500, mark, name: "burning" }));
    await until(() => lines().length === 1, "it burns");
    const busy = await pool.stats();
    expect(busy.threads).toMatchObject([{ isResponding: false, running: 1 }]);
    expect(busy.threads[0]?.figures).toEqual(calm.threads[0]?.figures);
    expect(busy.threads[0]?.utilisation).toBeGreaterThan(0);
    await burning;
    expect((await pool.stats()).runMs.max).toBeGreaterThan(450);
    const latestMs = async () => (await pool.stats()).threads[0]?.figures?.eventLoopDelayMs.max ?? 0;
    await until(async () => (await latestMs()) > 300, "the thread's event loop notices how late it is");
  });

  it("rejects what is asked of a thread that ends, instead of hanging", async () => {
    const pool = await openPool();
    const { mark, lines } = markFile();
    const exit = pool.call(callOf("burnAndExit", { ms: 300, mark, name: "burning" }));
    await until(() => lines().length === 1, "it burns");
    await expect(pool.inspect()).rejects.toMatchObject({ code: "EFFECT_WORKER_LOST" });
    await expect(exit).rejects.toMatchObject({ code: "EFFECT_WORKER_LOST" });
  });
});
