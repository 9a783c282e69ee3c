// Goal: a commit that cannot be written is one typed rejection, leaves no trace, and is never the end of the process.
// Method: the operating system limits the size of files, so that writing really fails; the limit is lifted later.

import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Wire } from "../../../src/kernel/codec/index.js";
import { hasCode } from "../../../src/kernel/errors.js";
import { LmdbEventStore } from "../../../src/kernel/store/index.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { startChild } from "./child-process.js";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.js";

let temporary: TemporaryDirectory;
beforeEach(() => {
  temporary = temporaryDirectory();
});
afterEach(() => temporary.remove());

const openStore = (): LmdbEventStore =>
  new LmdbEventStore({ dir: temporary.dir, now: Date.now, createdBy: "heddle test" });

interface Report {
  readonly acknowledged: string[];
  readonly refused: string[];
  readonly published: string[];
  readonly errors: { code: string; retryable: boolean; cause: string }[];
  readonly found: string[];
}

const EIGHT_MEGABYTES = "ulimit -S -f 16384"; // in blocks of 512 bytes

describe.skipIf(process.platform !== "linux")("a disk that is full (C-LOG-02)", () => {
  it("refuses what it cannot write, goes on once there is room, and loses nothing acknowledged", async () => {
    const child = startChild("filler.ts", [temporary.dir], { before: EIGHT_MEGABYTES });
    const full = JSON.parse(await child.line()) as Report;
    expect(full.acknowledged.length).toBeGreaterThan(3);
    expect(full.refused.length).toBeGreaterThan(20);
    expect(new Set(full.errors.map(({ code, retryable }) => `${code} ${retryable}`))).toEqual(
      new Set(["STORAGE_FAILED true"]),
    );
    expect(full.errors[0]?.cause).toContain("Input/output error");
    expect(full.published.sort()).toEqual(full.acknowledged.sort());
    expect(full.found.sort()).toEqual(full.acknowledged);

    const lifted = spawnSync("prlimit", ["--pid", String(child.process.pid), "--fsize=unlimited"]);
    expect(lifted.status).toBe(0);
    child.kill("SIGUSR2");
    const after = JSON.parse(await child.line()) as Report;
    expect(after.acknowledged.length).toBe(full.acknowledged.length + 3);
    expect(after.refused).toEqual(full.refused);
    expect(JSON.parse(await child.line())).toEqual({ unhandled: [] });
    expect(await child.ended()).toBe(7);

    const store = openStore();
    await store.open(0);
    const found = (await store.list({ limit: 1000 })).map(({ id }) => id);
    expect(found.sort()).toEqual(after.acknowledged.sort());
    for (const id of found) expect((await store.read(id)).length).toBe(1);
    await store.close();
  });

  it("refuses content it cannot write, and the log beside it goes on by itself once there is room", async () => {
    const child = startChild("content-filler.ts", [temporary.dir], { before: EIGHT_MEGABYTES });
    const failed = "STORAGE_FAILED";
    expect(JSON.parse(await child.line())).toEqual({ full: [failed, failed], read: "kept" });
    const lifted = spawnSync("prlimit", ["--pid", String(child.process.pid), "--fsize=unlimited"]);
    expect(lifted.status).toBe(0);
    child.kill("SIGUSR2");
    expect(JSON.parse(await child.line())).toEqual({ after: ["done", "done", "done"], unhandled: [] });
    expect(await child.ended()).toBe(7);
    const store = openStore();
    await store.open(0);
    expect(await store.list()).toHaveLength(1);
    expect(await store.content.sweep({ olderThanMs: 0 })).toEqual({ removed: 1, bytes: 20 * 1024 * 1024 });
    await store.close();
  });

  it("closes after a failure, and the log opens again with everything acknowledged", async () => {
    const child = startChild("filler.ts", [temporary.dir, "close"], { before: EIGHT_MEGABYTES });
    const { acknowledged } = JSON.parse(await child.line()) as Report;
    expect(JSON.parse(await child.line())).toEqual({ unhandled: [] });
    expect(await child.ended()).toBe(7);
    const store = openStore();
    const log = await store.open(0);
    expect((await store.list({ limit: 1000 })).map(({ id }) => id).sort()).toEqual(acknowledged.sort());
    await log.commit({
      executions: [new ScriptedExecution(log.nextKey, "after").start("x".repeat(9_000_000))],
    });
    await store.close();
  });
});

describe("a batch that turns out to be unwritable half-way", () => {
  it("leaves nothing, also of the members before it", async () => {
    const store = openStore();
    const log = await store.open(0);
    const kept = new ScriptedExecution(0);
    await log.commit({ executions: [kept.start()] });
    const others = Array.from({ length: 1500 }, (_, index) => new ScriptedExecution(index + 1));
    // Nothing that made it past `toWire` is like this; it stands for a bug of ours.
    const wrong = new ScriptedExecution(9999).append([
      { type: "DOMAIN_EVENT", name: "wrong", payload: Symbol("wrong") as unknown as Wire },
    ]);
    const failing = log.commit({
      executions: [kept.advance(1, { status: "suspended" }), ...others.map((other) => other.start()), wrong],
    });
    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(hasCode(error, "STORAGE_FAILED")).toBe(false); // It is not the disk's fault.
    await expect(log.commit({ executions: [] })).resolves.toBeUndefined();
    expect((await store.list({ limit: 5000 })).map(({ id, status }) => [id, status])).toEqual([
      [kept.id, "running"],
    ]);
    expect((await store.read(kept.id)).length).toBe(1);
    await store.close();
  });
});
