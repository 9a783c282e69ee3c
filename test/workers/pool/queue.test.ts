// C-EFF-03: the queue is bounded and fair, and whoever fills it can see that and wait for room.

import { describe, expect, it } from "vitest";
import { OverloadedError } from "../../../src/kernel/errors.js";
import { callOf, openPool } from "./world.js";

const own = (executionId: string) => ({ executionId });

describe("C-EFF-03: back-pressure", () => {
  it("100,000 calls of one execution do not keep the single call of another waiting", async () => {
    const pool = await openPool({ maxQueue: 200_000, callsPerThread: 16 });
    let done = 0;
    const crowd = Array.from({ length: 100_000 }, (_, n) =>
      pool.call(callOf("echo", n, own("crowd"))).then(() => done++),
    );
    const before = await pool.stats();
    expect(before.queued).toBeGreaterThan(90_000);
    expect(before.queuedBytes).toBeGreaterThan(90_000 * 8);
    const doneBefore = done;
    await pool.call(callOf("echo", 0, own("single")));
    // One round of the queue, and what was under way.
    expect(done - doneBefore).toBeLessThan(1_000);
    await Promise.all(crowd);
    const after = await pool.stats();
    expect(after).toMatchObject({ queued: 0, queuedBytes: 0, running: 0, done: 100_001 });
    expect(after.waitMs.p50).toBeGreaterThan(1);
  });

  it("is bounded: what is too much is refused, cancellable or not, and room is told", async () => {
    const pool = await openPool({ callsPerThread: 2, maxQueue: 3 });
    let rooms = 0;
    const stop = pool.onRoom(() => rooms++);
    const { signal } = new AbortController();
    const calls = Array.from({ length: 5 }, () => pool.call(callOf("sleep", { ms: 30 }, { signal })));
    expect(pool.hasRoom).toBe(false);
    const refused = await pool.call(callOf("echo", 1, { signal })).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OverloadedError);
    expect(refused).toMatchObject({ code: "OVERLOADED", retryable: true });
    expect((refused as Error).message).toContain("workers.effects.maxQueue");
    expect(rooms).toBe(0);
    await calls[0];
    await new Promise<void>(
      (resolve) => pool.onRoom(resolve) && (rooms > 0 || !pool.hasRoom ? resolve() : resolve()),
    );
    await Promise.all(calls);
    expect(pool.hasRoom).toBe(true);
    expect(rooms).toBeGreaterThan(0);
    stop();
    expect(await pool.call(callOf("echo", 1))).toBe(1);
  });

  it("lets a producer that waits for room through, without ever refusing it", async () => {
    const pool = await openPool({ callsPerThread: 4, maxQueue: 4 });
    let made = 0;
    const results: Promise<unknown>[] = [];
    await new Promise<void>((resolve) => {
      const produce = (): void => {
        while (made < 500 && pool.hasRoom) results.push(pool.call(callOf("echoLater", made++)));
        if (made === 500) resolve();
      };
      pool.onRoom(produce);
      produce();
    });
    expect(await Promise.all(results)).toEqual(Array.from({ length: 500 }, (_, n) => n));
  });
});
