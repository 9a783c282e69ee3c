// Goal: whatever anybody is told holds, also after a loss of power in the very next moment (P2).
// Method: a log that shows commits long before it answers for them, as LMDB does while it flushes. Found by the simulator.

import { describe, expect, test } from "vitest";
import { MemorySnapshotStore, type Snapshot } from "../../src/kernel/index.js";
import { flow, type ProcessOptions, World } from "../support/world.js";

/** Every second commit is visible for long before it is durable. */
const SLOW_FLUSH = { before: 0, after: 40, read: 3 };

/** How far subscribers have been told of the execution. */
function following(): { options: ProcessOptions; upTo: () => number } {
  let told = -1;
  return { options: { onDurableEvent: ({ sequence }) => void (told = sequence) }, upTo: () => told };
}

const asking = flow("asking", async (ctx) => {
  for (let i = 0; i < 4; i++) await ctx.suspend({ on: `ask${i}` });
});

describe("P2: what is told is durable", () => {
  test("a state is not shown ahead of what is durable, whatever is committed while it is read", async () => {
    const world = World.memory();
    const { options, upTo } = following();
    const process = await world.open([asking], { ...options, pace: SLOW_FLUSH });
    await process.start(asking, null);
    const shown: { sequence: number; durable: number }[] = [];
    for (let gate = 0; gate < 4; gate++) {
      await world.until(process.runtime.handle("x").waitForSuspend());
      const look = process.runtime
        .loadState("x")
        .then(({ sequence }) => void shown.push({ sequence, durable: upTo() }));
      await world.until(process.runtime.resume("x", { eventType: `ask${gate}` }));
      await world.until(look);
    }
    expect(shown).toHaveLength(4);
    for (const { sequence, durable } of shown) expect(sequence).toBeLessThanOrEqual(durable);
  });

  test("a snapshot is not ahead of what is durable: it may outlive what is not", async () => {
    const world = World.memory();
    const { options, upTo } = following();
    const ahead: Snapshot[] = [];
    const saved: number[] = [];
    class Watched extends MemorySnapshotStore {
      override async save(snapshot: Snapshot): Promise<void> {
        saved.push(snapshot.sequence);
        if (snapshot.sequence > upTo()) ahead.push(snapshot);
        await super.save(snapshot);
      }
    }
    const snapshotStore = new Watched();
    const steps = [1, 2, 3, 4, 5, 6].map((n) => world.step(`step${n}`, () => n));
    const working = flow("working", async (ctx) => {
      for (const step of steps) await ctx.run(step, null);
    });
    const process = await world.open([working], {
      ...options,
      pace: SLOW_FLUSH,
      snapshotEvery: 1,
      snapshotStore,
    });
    await process.start(working, null);
    await process.finish("x");
    expect(saved.length).toBeGreaterThan(3);
    expect(ahead).toEqual([]);
  });

  test("a verdict that came second is not refused for a first one that was never durable", async () => {
    const world = World.memory();
    const pay = world.step<unknown, unknown>("pay", () => new Promise(() => {}), { idempotent: false });
    const paying = flow("paying", (ctx) => ctx.run(pay, 1));
    const first = await world.open([paying]);
    await first.start(paying, null);
    await world.when(() => world.ran("pay") === 1);
    const process = await world.restart([paying]);
    await world.until(process.runtime.handle("x").waitForSuspend());

    process.store.failure = new Error("the disk is full");
    const verdicts = ["ada", "ben"].map((outcome) => process.runtime.resolveInDoubt("x", "pay", { outcome }));
    const told = await world.until(Promise.allSettled(verdicts));
    for (const each of told)
      expect(each).toMatchObject({ status: "rejected", reason: { code: "STORAGE_FAILED" } });

    process.store.failure = undefined;
    await world.pass(60_000);
    await world.until(process.runtime.resolveInDoubt("x", "pay", { outcome: "ben" }));
    expect((await process.finish("x")).variables["_output"]).toBe("ben");
  });
});
