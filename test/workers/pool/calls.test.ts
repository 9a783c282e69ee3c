// Calls of a pool on one thread: what an effect is given, what comes back, and that nobody waits for a slow neighbour.

import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  HeddleError,
  hasCode,
  ResumePayloadValidationError,
  TypedFailure,
} from "../../../src/kernel/index.js";
import { anyValue, spoil } from "../../kernel/codec/values.js";
import { callOf, openPool } from "./world.js";

describe("a call", () => {
  it("gives its effect the whole context", async () => {
    const pool = await openPool();
    const call = callOf("context", 0, { attempt: 3, toolId: "named", taskKind: "llm", workflowId: "w" });
    const { executionId, stepId, idempotencyKey } = call;
    expect(await pool.call(call)).toEqual({
      executionId,
      workflowId: "w",
      stepId,
      attempt: 3,
      toolId: "named",
      taskKind: "llm",
      idempotencyKey,
      isAborted: false,
      canEmit: "function",
    });
  });

  it("settles once, also when the effect's promise calls back twice", async () => {
    const pool = await openPool();
    expect(await pool.call(callOf("twice"))).toBe("first");
    expect(await pool.call(callOf("echo", 1))).toBe(1);
  });

  it("is dispatched and answered with wires, and never answered before dispatch returns", async () => {
    const pool = await openPool();
    const outcomes: unknown[] = [];
    await new Promise<void>((resolve) => {
      pool.dispatch({ ...callOf("echo"), input: { n: 1 } }, (outcome) => {
        outcomes.push(outcome);
        resolve();
      });
      pool.dispatch({ ...callOf("no such effect"), input: 1 }, (outcome) => outcomes.push(outcome));
      expect(outcomes).toEqual([]);
    });
    expect(outcomes[0]).toMatchObject({ kind: "failed", error: { code: "EFFECT_UNKNOWN" } });
    expect(outcomes[1]).toEqual({ kind: "completed", output: { n: 1 } });
  });
});

describe("C-EFF-04: what goes in is what comes out, across threads", () => {
  it("for any value of the table, there and back", async () => {
    const pool = await openPool();
    await fc.assert(
      fc.asyncProperty(fc.array(anyValue, { minLength: 1, maxLength: 20 }), async (values) => {
        // One packet for all of them.
        const copies = await Promise.all(values.map((value) => pool.call(callOf("echo", value))));
        deepStrictEqual(copies, values);
      }),
      { numRuns: 100 },
    );
  });

  it("for values that are spoiled as soon as the call is made", async () => {
    const pool = await openPool();
    await fc.assert(
      fc.asyncProperty(anyValue, async (value) => {
        const before = await pool.call(callOf("echo", value));
        const later = pool.call(callOf("echo", value));
        spoil(value);
        deepStrictEqual(await later, before);
      }),
      { numRuns: 100 },
    );
  });

  it("never detaches the caller's buffers, nor drags along the pool they lie in", async () => {
    const pool = await openPool();
    const pooled = Buffer.from("0123456789");
    const whole = new Uint8Array([1, 2, 3]).buffer;
    expect(pooled.buffer.byteLength).toBeGreaterThan(1_000);
    const copy = (await pool.call(callOf("echo", { pooled, whole }))) as { pooled: Buffer };
    expect(copy.pooled.buffer.byteLength).toBe(10);
    expect(copy.pooled.toString()).toBe("0123456789");
    expect(pooled.toString()).toBe("0123456789");
    expect(whole.byteLength).toBe(3);
    expect(Buffer.from("next").toString()).toBe("next");
  });

  it("refuses a function in an input, for that call alone and with its path", async () => {
    const pool = await openPool();
    const good = pool.call(callOf("echo", "before"));
    const bad = pool.call(callOf("echo", { deep: { cb() {} } }));
    const after = pool.call(callOf("echo", "after"));
    await expect(bad).rejects.toMatchObject({
      code: "VALUE_NOT_RECORDABLE",
      details: { path: "value.deep.cb" },
    });
    expect(await Promise.all([good, after])).toEqual(["before", "after"]);
    expect((await pool.stats()).running).toBe(0);
  });

  it("refuses what a result or an emitted payload cannot hold, with its path", async () => {
    const pool = await openPool();
    await expect(pool.call(callOf("unrecordable"))).rejects.toMatchObject({
      code: "VALUE_NOT_RECORDABLE",
      details: { path: "value.rows[1].cb" },
    });
    await expect(pool.call(callOf("emittingFunction"))).rejects.toMatchObject({
      code: "VALUE_NOT_RECORDABLE",
      details: { path: "value.deep.cb" },
    });
    const small = await openPool({ limits: { bytesMax: 1_000, depthMax: 10 } });
    await expect(small.call(callOf("echo", "x".repeat(2_000)))).rejects.toMatchObject({
      code: "VALUE_TOO_LARGE",
    });
  });
});

describe("C-EFF-06: errors keep what they carry", () => {
  const failureOf = async (how: string): Promise<unknown> => {
    const pool = await openPool();
    return pool.call(callOf("throwing", { how })).then(
      () => expect.unreachable(),
      (error: unknown) => error,
    );
  };

  it("a subclass with own properties and causes", async () => {
    const error = await failureOf("subclass");
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({
      name: "TooManyRequests",
      message: "slow down",
      status: 429,
      retryAfterMs: 3_000,
      cause: { message: "upstream", cause: { deep: 1 } },
    });
    expect((error as Error).stack).toContain("effects.mjs");
  });

  it("heddle's own errors, as instances of their classes, causes too", async () => {
    const error = (await failureOf("heddle")) as HeddleError;
    expect(error).toBeInstanceOf(HeddleError);
    expect(error).toMatchObject({ code: "STORAGE_FAILED", retryable: true, details: { disk: 1 } });
    expect(error.cause).toBeInstanceOf(HeddleError);
    expect(hasCode(error.cause, "GATE_NOT_OPEN")).toBe(true);
    expect(await failureOf("validation")).toBeInstanceOf(ResumePayloadValidationError);
  });

  it("a failure on a channel", async () => {
    const error = await failureOf("channel");
    expect(error).toBeInstanceOf(TypedFailure);
    expect(error).toMatchObject({ channel: "soldOut", payload: { left: 0 }, retryable: false });
  });

  it("what is no error, what is thrown later, and what cannot be recorded", async () => {
    expect(await failureOf("string")).toBe("just text");
    expect(await failureOf("later")).toBeInstanceOf(TypeError);
    expect(await failureOf("function")).toMatchObject({ message: "with a function", kept: 1 });
  });
});

describe("events an effect emits", () => {
  it("come while it runs, in order, before its result, and are checked where they are made", async () => {
    const pool = await openPool();
    const heard: unknown[] = [];
    const emit = (type: string, payload: unknown): void => void heard.push([type, payload]);
    const result = pool.call(callOf("emitting", { values: [1, { two: 2 }] }, { emit }));
    result.then(
      (value) => heard.push(value),
      () => {},
    );
    expect(await result).toBe("ID_INVALID");
    expect(heard).toEqual([["progress", 1], ["progress", { two: 2 }], "ID_INVALID"]);
  });

  it("come even from an effect that keeps the thread to itself", async () => {
    const pool = await openPool();
    const heard: number[] = [];
    const started = performance.now();
    const emit = (): void => void heard.push(performance.now() - started);
    await pool.call(callOf("emitting", { values: [1], burnMs: 150 }, { emit }));
    const endedMs = performance.now() - started;
    expect(heard).toHaveLength(2);
    expect(endedMs - (heard[1] ?? Infinity), "milliseconds before the end").toBeGreaterThan(75);
  });

  it("are void once the effect has ended, and a listener that throws hurts nobody", async () => {
    const pool = await openPool();
    const heard: string[] = [];
    const emit = (type: string): void => {
      heard.push(type);
      throw new Error("from the listener");
    };
    expect(await pool.call(callOf("emittingAfter", 0, { emit }))).toBe("done");
    await pool.call(callOf("sleep", { ms: 20 }));
    expect(heard).toEqual([]);
    expect(await pool.call(callOf("emitting", { values: [1] }, { emit }))).toBe("ID_INVALID");
    expect(heard).toEqual(["progress"]);
  });
});

describe("calls that share a packet", () => {
  it("return when they are done: one that waits holds back nobody", async () => {
    const pool = await openPool();
    const order: string[] = [];
    const note = (name: string) => (): number => order.push(name);
    const slow = pool.call(callOf("sleep", { ms: 150 })).then(note("slow"));
    const fast = Array.from({ length: 50 }, (_, n) => pool.call(callOf("echoLater", n)).then(note("fast")));
    await Promise.all([slow, ...fast]);
    expect(order.at(-1)).toBe("slow");
    expect(order).toHaveLength(51);
  });

  it("return when they are done: one that burns holds back nothing that had finished before it began", async () => {
    const pool = await openPool();
    await pool.call(callOf("burn", { ms: 1 }));
    const started = performance.now();
    const fast = pool.call(callOf("echo", 1)).then(() => performance.now() - started);
    const burning = pool.call(callOf("burn", { ms: 300 }));
    expect(await fast).toBeLessThan(200);
    await burning;
  });

  it("are never more than callsPerThread under way", async () => {
    const pool = await openPool({ callsPerThread: 5 });
    const crowds = await Promise.all(
      Array.from({ length: 40 }, () => pool.call(callOf("crowd", { ms: 5 })) as Promise<number>),
    );
    expect(Math.max(...crowds)).toBe(5);
  });

  it("wait for company as long as packet.maxDelayMs says, and leave when the packet is full", async () => {
    const pool = await openPool({ packet: { maxCalls: 3, maxDelayMs: 1_000 } });
    const started = performance.now();
    expect(await Promise.all([1, 2, 3].map((n) => pool.call(callOf("echo", n))))).toEqual([1, 2, 3]);
    expect(performance.now() - started).toBeLessThan(900);
    const alone = performance.now();
    await pool.call(callOf("echo", 4));
    expect(performance.now() - alone).toBeGreaterThan(900);
  });
});
