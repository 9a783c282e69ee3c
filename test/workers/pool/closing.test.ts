// C-LIF-04 and C-EMB for the pool: closing at any moment settles every call and leaves nothing; a host is not held up.

import { describe, expect, it } from "vitest";
import { EffectPool } from "../../../src/workers/pool/index.js";
import { startChild } from "../../crash/child.js";
import { callOf, EFFECTS, ENTRY, markFile, openPool, until } from "./world.js";

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: { code?: unknown }) => error.code ?? error,
  );

describe("C-LIF-04: closing", () => {
  it("lets what runs end, refuses what waits and what comes", async () => {
    const pool = await openPool({ callsPerThread: 2 });
    const { mark, lines } = markFile();
    const running = [1, 2].map((n) =>
      codeOf(pool.call(callOf("sleep", { ms: 100, mark, name: "s", value: n }))),
    );
    const waiting = codeOf(pool.call(callOf("echo", 3)));
    await until(() => lines().length === 2, "two run");
    const closed = pool.close();
    const late = codeOf(pool.call(callOf("echo", 4)));
    expect(await Promise.all([...running, waiting, late])).toEqual([
      1,
      2,
      "RUNTIME_CLOSED",
      "RUNTIME_CLOSED",
    ]);
    await closed;
  });

  it("aborts what runs at the deadline, and tells the effects", async () => {
    const pool = await openPool();
    const { mark, lines } = markFile();
    const calls = ["obedient", "deaf"].map((id) => codeOf(pool.call(callOf(id, { mark, name: id }))));
    await until(() => lines().length === 2, "both run");
    const started = performance.now();
    await pool.close({ deadlineMs: 50 });
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(await Promise.all(calls)).toEqual(["RUNTIME_CLOSED", "RUNTIME_CLOSED"]);
    expect(lines()).toContain("aborted RUNTIME_CLOSED");
  });

  it("resolves although an effect never lets go of its thread", async () => {
    const pool = await openPool();
    const { mark, lines } = markFile();
    const stuck = codeOf(pool.call(callOf("stuck", { mark, name: "stuck" })));
    const behind = codeOf(pool.call(callOf("echo", 1)));
    await until(() => lines().length === 1, "it is stuck");
    await pool.close({ deadlineMs: 20 });
    expect(await Promise.all([stuck, behind])).toEqual(["RUNTIME_CLOSED", "RUNTIME_CLOSED"]);
  });

  it("is one closing, however often it is asked for", async () => {
    const pool = await openPool();
    const first = pool.close();
    expect(pool.close({ deadlineMs: 0 })).toBe(first);
    await first;
    await pool.close();
  });

  it("at random moments under load settles every call", async () => {
    const effectIds = ["echo", "sleep", "burn", "exit", "exitLater", "deaf", "throwInTimer"];
    for (let round = 0; round < 8; round++) {
      const pool = await openPool({ minThreads: 2, maxThreads: 2, callsPerThread: 4 });
      const calls = Array.from({ length: 60 }, (_, n) =>
        codeOf(
          pool.call(callOf(effectIds[(n * 7 + round) % effectIds.length] as string, { ms: n % 7, value: n })),
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, round * 12));
      await pool.close({ deadlineMs: round % 2 ? 0 : 20 });
      const outcomes = await Promise.all(calls);
      for (const outcome of outcomes) {
        if (typeof outcome !== "string") continue;
        expect(["RUNTIME_CLOSED", "EFFECT_WORKER_LOST"]).toContain(outcome);
      }
    }
  });
});

describe("C-EMB-01, C-EMB-02: a guest in its host", () => {
  const program = (name: string): URL => new URL(`./programs/${name}`, import.meta.url);
  const run = async (name: string, ...args: string[]) => {
    const child = startChild(program(name), { args });
    const end = await child.ended;
    return { ...end, lines: child.lines };
  };

  it("changes no listeners, no globals, writes nothing, and leaves no handle after close", async () => {
    const { code, stderr, lines } = await run("traces.mjs");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ changes: [], resources: [], written: 0 });
  });

  it("does not hold up a host that has nothing else to do, closed or not", async () => {
    const started = performance.now();
    const { code, stderr, lines } = await run("unclosed.mjs");
    expect({ code, stderr, lines }).toEqual({ code: 0, stderr: "", lines: ["done"] });
    expect(performance.now() - started).toBeLessThan(8_000);
  });

  it("keeps a host alive while a call is under way", async () => {
    const { code, lines } = await run("waiting.mjs");
    expect({ code, lines }).toEqual({ code: 0, lines: ["slept"] });
  });

  it("lives in a worker thread as in the main one, also when that is terminated", async () => {
    const { code, stderr, lines } = await run("nested.mjs");
    expect({ code, stderr, lines }).toEqual({
      code: 0,
      stderr: "",
      lines: ["inner 42", "terminated", "outer 42"],
    });
  });

  it("runs effects written in TypeScript when the host runs under a loader", async () => {
    const child = startChild(program("typescript-host.ts"), { nodeArgs: ["--import", "tsx"] });
    const { code, stderr } = await child.ended;
    expect({ code, stderr, lines: child.lines }).toEqual({ code: 0, stderr: "", lines: ["typed 42"] });
  });

  // Long form: HEDDLE_OPENINGS=25 npx vitest run test/workers/pool/closing.test.ts
  const OPENINGS = Number(process.env["HEDDLE_OPENINGS"] ?? 6);
  it("opens and closes again and again, and several at a time stay apart", async () => {
    for (let round = 0; round < OPENINGS; round++) {
      const pools = await Promise.all(
        [1, 2, 3, 4].map(() => EffectPool.open({ module: EFFECTS, entry: ENTRY, maxThreads: 1 })),
      );
      const threads = await Promise.all(pools.map((pool) => pool.call(callOf("thread"))));
      expect(new Set(threads).size).toBe(4);
      await Promise.all(pools.map((pool) => pool.close()));
    }
  }, 120_000);
});
