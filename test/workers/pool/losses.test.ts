// Goal: a call that takes its thread down fails, typed and soon; the others get done, those that had finished only once.
// Method: every way to end a thread, beside neighbours in every state, each invocation counted in a file.

import { describe, expect, it } from "vitest";
import type { EffectPool } from "../../../src/workers/pool/index.js";
import { callOf, countOf, markFile, openPool } from "./world.js";

const FATAL = [
  ["exit", "process.exit, with code 3"],
  ["exitLater", "process.exit, with code 3"],
  ["exitAfterAwait", "process.exit, with code 3"],
  ["throwInTimer", "uncaught RangeError: from a timer"],
  ["rejectLoose", "uncaught RangeError: nobody handles this"],
  ["rejectLooseLater", "uncaught RangeError: nobody handles this"],
  ["reallyExit", "process.exit, with code 7"],
] as const;

async function lossOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => expect.unreachable(`it returned ${String(value)}`),
    (error: unknown) => error,
  );
}

async function works(pool: EffectPool): Promise<void> {
  expect(await pool.call(callOf("echo", "still here"))).toBe("still here");
}

describe("C-EFF-01: a step takes its worker down", () => {
  it.each(FATAL)(
    "alone, by %s: it fails with EFFECT_WORKER_LOST inside two seconds",
    async (effectId, how) => {
      const pool = await openPool();
      const started = performance.now();
      const error = await lossOf(pool.call(callOf(effectId, {}, { stepId: "culprit", attempt: 2 })));
      expect(performance.now() - started).toBeLessThan(2_000);
      expect(error).toMatchObject({
        code: "EFFECT_WORKER_LOST",
        retryable: true,
        details: { stepId: "culprit", attempt: 2 },
      });
      expect((error as Error).message).toContain(how);
      await works(pool);
      expect((await pool.stats()).lostThreads).toBe(1);
    },
  );

  it.each(FATAL)(
    "by %s, beside others: only the culprit fails, what had finished is not done again",
    async (effectId) => {
      const pool = await openPool();
      const { mark, lines } = markFile();
      const finished = Array.from({ length: 20 }, (_, n) =>
        pool.call(callOf("burn", { ms: 0, mark, name: "quick", value: n })),
      );
      const slow = [1, 2, 3].map((n) => pool.call(callOf("sleep", { ms: 50, mark, name: "slow", value: n })));
      const culprit = lossOf(pool.call(callOf(effectId, { mark, name: "culprit" })));
      const behind = Array.from({ length: 20 }, (_, n) =>
        pool.call(callOf("burn", { ms: 0, mark, name: "behind", value: n })),
      );
      const outcome = await culprit;
      expect(outcome).toMatchObject({ code: "EFFECT_WORKER_LOST" });
      expect(await Promise.all(slow)).toEqual([1, 2, 3]);
      expect(await Promise.all(finished)).toEqual(Array.from({ length: 20 }, (_, n) => n));
      expect(await Promise.all(behind)).toEqual(Array.from({ length: 20 }, (_, n) => n));
      // What was under way beside the culprit runs again; what had finished, or had not begun, runs once.
      expect(countOf(lines(), "slow")).toBeGreaterThanOrEqual(6);
      expect(countOf(lines(), "quick")).toBe(20);
      expect(countOf(lines(), "behind")).toBe(20);
    },
  );

  it("without warning: what had finished and not been sent yet is sent before the thread ends", async () => {
    const pool = await openPool();
    const { mark, lines } = markFile();
    // Effects known to be short: nothing that has finished is sent before they begin.
    for (let n = 0; n < 3; n++) {
      await pool.call(callOf("exitOnce", {}, { attempt: 2 }));
      await pool.call(callOf("burn", { ms: 0 }));
    }
    const quick = Array.from({ length: 20 }, (_, n) =>
      pool.call(callOf("burn", { ms: 0, mark, name: "quick", value: n })),
    );
    const culprit = pool.call(callOf("exitOnce", { mark, name: "culprit" }));
    await expect(culprit).rejects.toMatchObject({ code: "EFFECT_WORKER_LOST" });
    expect(await Promise.all(quick)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(countOf(lines(), "quick")).toBe(20);
    expect(countOf(lines(), "culprit")).toBe(1);
    expect(await pool.stats()).toMatchObject({ lostThreads: 1, reruns: 0 });
  });

  it("by running out of memory: the one that does it alone is guilty, its neighbours are not", async () => {
    const pool = await openPool({ resourceLimits: { maxOldGenerationSizeMb: 30 } });
    const slow = [1, 2].map((value) => pool.call(callOf("sleep", { ms: 20, value })));
    const culprit = await lossOf(pool.call(callOf("hoard", {})));
    expect(culprit).toMatchObject({
      code: "EFFECT_WORKER_LOST",
      cause: { code: "ERR_WORKER_OUT_OF_MEMORY" },
    });
    expect((culprit as Error).message).toContain("ran out of memory");
    expect(await Promise.all(slow)).toEqual([1, 2]);
    await works(pool);
  });

  it("in a way that leaves the thread no chance to say who: suspects run alone, and the culprit is found", async () => {
    const pool = await openPool();
    const { mark, lines } = markFile();
    const slow = [1, 2, 3].map((value) => pool.call(callOf("sleep", { ms: 30, mark, name: "slow", value })));
    const culprit = pool.call(callOf("reallyExit", { mark, name: "culprit" }));
    await expect(culprit).rejects.toMatchObject({ code: "EFFECT_WORKER_LOST" });
    expect(await Promise.all(slow)).toEqual([1, 2, 3]);
    expect(countOf(lines(), "culprit")).toBe(2);
    expect(countOf(lines(), "slow")).toBe(6);
    expect(await pool.stats()).toMatchObject({ lostThreads: 2, reruns: 4 });
  });

  it("runs a call alone that lost three threads through others, so that it gets done", async () => {
    const pool = await openPool({ callsPerThread: 4 });
    const { mark, lines } = markFile();
    const patient = pool.call(
      callOf("sleep", { ms: 60, mark, name: "patient", value: "done" }, { executionId: "p" }),
    );
    let isOver = false;
    void patient.then(() => (isOver = true));
    // As soon as one culprit is gone the next one comes.
    while (!isOver) await pool.call(callOf("exitLater", { ms: 1 }, { executionId: "c" })).catch(() => {});
    expect(await patient).toBe("done");
    expect(countOf(lines(), "patient")).toBeLessThanOrEqual(5);
  });

  it("runs innocent calls again with the same attempt number and key, and counts that", async () => {
    const pool = await openPool();
    const innocent = callOf("sleep", { ms: 30, value: 1 }, { attempt: 4 });
    const starts: number[] = [];
    const result = pool.call({ ...innocent, onStart: () => starts.push(innocent.attempt) });
    const culprit = pool.call(callOf("exit", {}));
    await expect(culprit).rejects.toMatchObject({ code: "EFFECT_WORKER_LOST" });
    expect(await result).toBe(1);
    expect(starts).toEqual([4, 4]);
    expect(await pool.stats()).toMatchObject({ lostThreads: 1, reruns: 1 });
  });

  const LOSSES = Number(process.env["HEDDLE_LOSSES"] ?? 100);

  // Long form: HEDDLE_LOSSES=10000 npx vitest run test/workers/pool/losses.test.ts
  it(`comes back to size after ${LOSSES} losses beside as many healthy calls on two threads`, {
    timeout: 60_000 + LOSSES * 500,
  }, async () => {
    const pool = await openPool({ minThreads: 2, maxThreads: 2, callsPerThread: 16 });
    const { mark, lines } = markFile();
    const step = async (n: number): Promise<unknown> => {
      const stepId = `bad#${n}`;
      const first = await lossOf(pool.call(callOf("exitOnce", {}, { stepId, executionId: `bad#${n}` })));
      expect(first).toMatchObject({ code: "EFFECT_WORKER_LOST" });
      return pool.call(callOf("exitOnce", {}, { stepId, executionId: `bad#${n}`, attempt: 2 }));
    };
    const all = Array.from({ length: LOSSES }, (_, n) => [
      step(n),
      pool.call(callOf("burn", { ms: 0, mark, name: `good#${n}`, value: n }, { executionId: `good#${n}` })),
    ]).flat();
    const results = await Promise.all(all);
    expect(results.filter((result) => result === "recovered")).toHaveLength(LOSSES);
    // Exactly once each.
    expect(lines().toSorted()).toEqual(Array.from({ length: LOSSES }, (_, n) => `good#${n}`).toSorted());
    await works(pool);
    const stats = await pool.stats();
    expect(stats).toMatchObject({ lostThreads: LOSSES, running: 0, queued: 0 });
    expect(stats.threads).toHaveLength(2);
  });
});
