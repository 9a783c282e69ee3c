// What app.workers tells and changes, for partitions in the host's thread and in threads of their own. Real threads, from
// the built package.

import { setTimeout as delay } from "node:timers/promises";
import { defineConfig, type HeddleApp, lmdbStorage, type WorkersInspection, type WorkersStats } from "heddle";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../partitions/world.js";
import { echo, hold } from "./programs/flows.mjs";

const module = new URL("./programs/effects.mjs", import.meta.url);
const flows = new URL("./programs/flows.mjs", import.meta.url);

async function open(actors: number, effects: object | null = {}): Promise<HeddleApp> {
  const app = defineConfig({
    storage: lmdbStorage({ dir: temporaryDirectory(), sync: "commit" }),
    flows: [echo, hold],
    workers: {
      actors,
      ...(actors > 0 && { app: flows }),
      ...(effects && { effects: { module, minThreads: 1, maxThreads: 2, ...effects } }),
    },
  });
  onTestFinished(() => app.close({ deadlineMs: 0 }));
  await app.start();
  return app;
}

/** Asks until it is so; the time-out of the test ends it. */
async function until<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    await delay(5);
  }
}

const poolsOf = ({ effects, actors }: WorkersStats) =>
  [effects, ...actors.map((thread) => thread.effects)].filter((pool) => pool !== undefined);
const callsOf = ({ effects, actors }: WorkersInspection) =>
  [...effects, ...actors.flatMap((thread) => thread.effects)].flatMap(({ calls }) => calls);

describe.each([[0], [2]])("app.workers with %i partition threads", (actors) => {
  it("tells what was done, what runs and what waits, by thread", async () => {
    const app = await open(actors, { maxThreads: 2, callsPerThread: 1 });
    for (let i = 0; i < 5; i++) {
      expect(await (await app.runtime.start(echo, i)).result()).toBe(i);
    }
    const held = await Promise.all([1, 2, 3, 4].map((i) => app.runtime.start(hold, i)));
    const stats = await until(
      () => app.workers.stats(),
      (now) => poolsOf(now).reduce((sum, { running, queued }) => sum + running + queued, 0) === 4,
    );
    expect(stats.actors).toHaveLength(actors);
    expect(stats.host === undefined).toBe(actors > 0);
    const pools = poolsOf(stats);
    expect(pools.reduce((sum, { done }) => sum + done, 0)).toBe(5);
    for (const { threads } of pools) expect(threads.length).toBeGreaterThanOrEqual(1);
    const atWork = stats.host?.executionsAtWork ?? 0;
    expect(stats.actors.reduce((sum, thread) => sum + (thread.executionsAtWork ?? 0), atWork)).toBe(4);
    const calls = callsOf(await app.workers.inspect());
    expect(calls.length).toBeGreaterThanOrEqual(1);
    for (const call of calls) {
      expect(call).toMatchObject({ effectId: "hold", stepId: "hold", attempt: 1 });
      expect(held.map(({ executionId }) => executionId)).toContain(call.executionId);
    }
  });

  it("applies new limits while effects run", async () => {
    const app = await open(actors, { maxThreads: 2, callsPerThread: 1 });
    const started = await Promise.all(Array.from({ length: 12 }, (_, i) => app.runtime.start(hold, i)));
    expect(started).toHaveLength(12);
    await until(
      () => app.workers.stats(),
      (now) => poolsOf(now).some(({ queued }) => queued > 0),
    );
    await app.workers.tune({ callsPerThread: 16 });
    await until(
      () => app.workers.stats(),
      (now) => poolsOf(now).every(({ queued }) => queued === 0),
    );
  });

  it("refuses limits that cannot be, by name, and an app without a pool", async () => {
    const app = await open(actors);
    await expect(app.workers.tune({ maxThreads: 0 })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { option: "workers.effects.maxThreads" },
    });
    const bare = await open(actors, null);
    await expect(bare.workers.tune({ maxThreads: 2 })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { option: "workers.effects" },
    });
    expect(poolsOf(await bare.workers.stats())).toEqual([]);
  });
});
