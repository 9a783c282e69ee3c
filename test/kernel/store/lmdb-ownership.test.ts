// Goal: one living owner a partition, whatever state it is in; a dead one is in nobody's way.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PartitionLockedError } from "../../../src/kernel/errors.js";
import { LmdbEventStore } from "../../../src/kernel/store/index.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { type Child, startChild } from "./child-process.js";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.js";

let temporary: TemporaryDirectory;
const children: Child[] = [];
const stores: LmdbEventStore[] = [];
beforeEach(() => {
  temporary = temporaryDirectory();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const store of stores.splice(0)) await store.close();
  temporary.remove();
});

function openStore(): LmdbEventStore {
  const store = new LmdbEventStore({ dir: temporary.dir, now: Date.now, createdBy: "heddle test" });
  stores.push(store);
  return store;
}

async function startOwner(): Promise<Child & { readonly pid: number }> {
  const child = startChild("owner.ts", [temporary.dir]);
  children.push(child);
  await child.line();
  return { ...child, pid: child.process.pid ?? 0 };
}

/** The refusal, which must not take longer than anybody would wait. */
async function refused(): Promise<PartitionLockedError> {
  const started = performance.now();
  const error: unknown = await openStore()
    .open(0)
    .catch((thrown: unknown) => thrown);
  expect(performance.now() - started).toBeLessThan(1000);
  if (!(error instanceof PartitionLockedError)) throw error;
  return error;
}

describe("two processes (C-LOG-04)", () => {
  it("are kept apart while the owner commits, and the refusal names it", async () => {
    const owner = await startOwner();
    for (let attempt = 0; attempt < 20; attempt++) {
      const { code, message, details } = await refused();
      expect(code).toBe("PARTITION_LOCKED");
      expect(message).toContain(`process ${owner.pid} on `);
      expect(details).toMatchObject({ owner: { pid: owner.pid } });
    }
    const store = openStore();
    expect((await store.list()).map(({ id }) => id)).toEqual([`of-${owner.pid}`]);
  });

  it("are kept apart while the owner is stopped, at whatever point; killing it frees the log at once", async () => {
    const owner = await startOwner();
    for (let attempt = 0; attempt < 20; attempt++) {
      owner.kill("SIGSTOP");
      expect((await refused()).message).toContain(`process ${owner.pid} on `);
      owner.kill("SIGCONT");
    }
    owner.kill("SIGSTOP");
    const read = await openStore().read(`of-${owner.pid}`); // Reading goes on.
    expect(read.length).toBeGreaterThan(0);
    owner.kill("SIGKILL");
    expect(await owner.ended()).toBe("SIGKILL");
    const log = await openStore().open(0);
    expect(log.epoch).toBe(2);
  });

  it("see what the other has committed before the call", async () => {
    const owner = await startOwner();
    const store = openStore();
    const id = `of-${owner.pid}`;
    let last = -1;
    for (let reading = 0; reading < 200; reading++) {
      const events = await store.read(id);
      expect(events.map(({ sequence }) => sequence)).toEqual(Array.from(events.keys()));
      expect(events.length).toBeGreaterThanOrEqual(last);
      last = events.length;
      if (reading % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    // Without a turn of the event loop in between.
    const [before, deadline] = [last, performance.now() + 5000];
    while (last === before && performance.now() < deadline) last = (await store.read(id)).length;
    expect(last).toBeGreaterThan(before);
  });
});

describe("one process (C-LOG-04, C-EMB-02)", () => {
  it("keeps two objects on one directory apart", async () => {
    const first = openStore();
    const log = await first.open(0);
    expect((await refused()).message).toContain(`process ${process.pid} on `);
    const reader = openStore();
    await log.commit({ executions: [new ScriptedExecution(0, "a").start()] });
    expect((await reader.read("a")).length).toBe(1);
    await first.close();
    expect((await openStore().open(0)).epoch).toBe(2);
  });

  it("keeps two threads apart, and a thread that ends leaves nothing locked", async () => {
    const worker = new Worker(new URL("children/owner-thread.mjs", import.meta.url), {
      workerData: { dir: temporary.dir },
    });
    await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    expect((await refused()).message).toContain(`process ${process.pid} on `);
    // Both threads share one environment now; the reader must not be in the owner's way.
    const store = openStore();
    const length = async (): Promise<number> => (await store.read("of-thread")).length;
    const before = await length();
    while ((await length()) === before) await new Promise((resolve) => setImmediate(resolve));
    await worker.terminate();
    const log = await openStore().open(0);
    expect(log.epoch).toBe(2);
    await log.commit({ executions: [new ScriptedExecution(log.nextKey, "after").start()] });
  });

  it("lets a thread become owner although another one keeps reading", async () => {
    const first = openStore();
    const log = await first.open(0);
    await log.commit({ executions: [new ScriptedExecution(0, "a").start()] });
    await first.close();
    const reader = openStore();
    const worker = new Worker(new URL("children/owner-thread.mjs", import.meta.url), {
      workerData: { dir: temporary.dir },
    });
    let isOwned = false;
    const owned = new Promise((resolve, reject) =>
      worker.once("message", resolve).once("error", reject),
    ).then(() => {
      isOwned = true;
    });
    while (!isOwned) {
      expect((await reader.read("a")).length).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await owned;
    await worker.terminate();
  });
});

describe("the name of the owner", () => {
  it("is in the lock file for people to see", async () => {
    await openStore().open(0);
    const owner: unknown = JSON.parse(readFileSync(join(temporary.dir, "p000", "owner.lock"), "utf8"));
    expect(owner).toMatchObject({ pid: process.pid, since: expect.any(Number) as number });
  });
});
