// Deadlines and cancelling: what settles when, what the effect is told, and when a thread is ended by force.

import { describe, expect, it } from "vitest";
import { HeddleError } from "../../../src/kernel/index.js";
import { callOf, countOf, markFile, openPool, until } from "./world.js";

describe("a deadline", () => {
  it("C-EFF-03: counts from the start of the effect, not from when the call was made", async () => {
    const pool = await openPool({ callsPerThread: 1 });
    const before = pool.call(callOf("burn", { ms: 400 }));
    const behind = pool.call(callOf("echo", "in time", { timeoutMs: 100 }));
    await before;
    expect(await behind).toBe("in time");
    // Nor from when it was sent, behind one that burns in the same packet.
    const wide = await openPool();
    const burning = wide.call(callOf("burn", { ms: 400 }));
    expect(await wide.call(callOf("echo", "too", { timeoutMs: 100 }))).toBe("too");
    await burning;
  });

  it("settles the call, and tells the effect why", async () => {
    const pool = await openPool();
    const { mark, lines } = markFile();
    const call = callOf("obedient", { mark, name: "began" }, { timeoutMs: 30, stepId: "late", attempt: 2 });
    await expect(pool.call(call)).rejects.toMatchObject({
      code: "EFFECT_TIMED_OUT",
      message: "Step late ran longer than 30 ms (attempt 2).",
    });
    await until(() => lines().includes("aborted EFFECT_TIMED_OUT"), "the effect is told");
    await until(() => pool.hasRoom, "there is room");
    expect((await pool.stats()).lostThreads).toBe(0);
  });

  it("ends the thread of an effect that ignores it for as long as graceMs, and no other", async () => {
    const pool = await openPool({ graceMs: 100 });
    const { mark, lines } = markFile();
    const deadThread = await pool.call(callOf("thread"));
    const innocent = pool.call(callOf("sleep", { ms: 200, mark, name: "innocent", value: "done" }));
    const deaf = pool.call(callOf("deaf", {}, { timeoutMs: 30 }));
    await expect(deaf).rejects.toMatchObject({ code: "EFFECT_TIMED_OUT" });
    expect(await innocent).toBe("done");
    expect(countOf(lines(), "innocent")).toBe(2);
    expect(await pool.call(callOf("thread"))).not.toBe(deadThread);
  });

  it("ends the thread of an effect that never lets go of it; what waited behind it runs once", async () => {
    const pool = await openPool({ graceMs: 50 });
    const { mark, lines } = markFile();
    const stuck = pool.call(callOf("stuck", {}, { timeoutMs: 50 }));
    const behind = pool.call(callOf("burn", { ms: 0, mark, name: "behind", value: 1 }));
    await expect(stuck).rejects.toMatchObject({ code: "EFFECT_TIMED_OUT" });
    expect(await behind).toBe(1);
    expect(countOf(lines(), "behind")).toBe(1);
  });

  it("C-EFF-02: is the only judge of a busy thread: an effect that burns runs exactly once", async () => {
    const burnMs = Number(process.env["HEDDLE_BURN_MS"] ?? 5_000);
    const pool = await openPool({ graceMs: 10, idleTimeoutMs: 10, minThreads: 0 });
    const { mark, lines } = markFile();
    const burning = pool.call(callOf("burn", { ms: burnMs, mark, name: "burn", value: "once" }));
    const stats = await pool.stats();
    expect(stats.threads.length).toBeGreaterThan(0);
    expect(await burning).toBe("once");
    expect(countOf(lines(), "burn")).toBe(1);
    expect((await pool.stats()).lostThreads).toBe(0);
  }, 120_000);
});

describe("cancelling", () => {
  it("before the call: nothing runs", async () => {
    const pool = await openPool();
    const { mark, lines } = markFile();
    const signal = AbortSignal.abort(new HeddleError("EXECUTION_CANCELLED", "by the host"));
    const call = pool.call(callOf("burn", { ms: 0, mark, name: "ran" }, { signal }));
    await expect(call).rejects.toMatchObject({ code: "EXECUTION_CANCELLED" });
    await pool.call(callOf("echo"));
    expect(lines()).toEqual([]);
  });

  it("while it waits, in the queue or behind another one on its thread: nothing runs", async () => {
    for (const callsPerThread of [1, 64]) {
      const pool = await openPool({ callsPerThread });
      const { mark, lines } = markFile();
      const burning = pool.call(callOf("burn", { ms: 200, mark, name: "burning" }));
      await until(() => lines().length === 1, "the first one burns");
      const controller = new AbortController();
      const { signal } = controller;
      const waiting = pool.call(callOf("burn", { ms: 0, mark, name: "waiting" }, { signal }));
      setImmediate(() => setImmediate(() => controller.abort("changed my mind")));
      await expect(waiting).rejects.toBe("changed my mind");
      await burning;
      await pool.call(callOf("echo"));
      expect(lines()).toEqual(["burning"]);
      expect((await pool.stats()).running).toBe(0);
    }
  });

  it("while it runs: the call rejects at once, the effect is told, its thread is left alone", async () => {
    const pool = await openPool({ graceMs: 10 });
    const { mark, lines } = markFile();
    const controller = new AbortController();
    const { signal } = controller;
    const calls = ["obedient", "deaf"].map((effectId) =>
      pool.call(callOf(effectId, { mark, name: effectId }, { signal })),
    );
    await until(() => lines().length === 2, "both run");
    controller.abort(new HeddleError("EXECUTION_CANCELLED", "by the host"));
    const outcomes = await Promise.allSettled(calls);
    expect(
      outcomes.map((outcome) => outcome.status === "rejected" && (outcome.reason as HeddleError).code),
    ).toEqual(["EXECUTION_CANCELLED", "EXECUTION_CANCELLED"]);
    await until(() => lines().includes("aborted EXECUTION_CANCELLED"), "the effect is told");
    // Longer than the grace.
    expect(await pool.call(callOf("sleep", { ms: 50, value: 1 }))).toBe(1);
    expect(await pool.stats()).toMatchObject({ lostThreads: 0, running: 1 });
  });
});
