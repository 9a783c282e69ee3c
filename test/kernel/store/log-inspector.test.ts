// Goal: an inspector sees what a partition holds, page by page, owns nothing and makes nothing. (What it makes of damage
// is shown where people see it: test/cli/damage.test.ts.)

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasDataFile } from "../../../src/kernel/store/lmdb/data-file.js";
import { LmdbEventStore } from "../../../src/kernel/store/lmdb/lmdb-event-store.js";
import {
  LogInspector,
  type StoredHeader,
  type StoredRecord,
} from "../../../src/kernel/store/lmdb/log-inspector.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.js";

let temporary: TemporaryDirectory;
let dir: string;
beforeEach(() => {
  temporary = temporaryDirectory();
  dir = temporary.dir;
});
afterEach(() => temporary.remove());

/** Ids by key: `apple` has three records (0, 1 to 3, 4), the others one each. */
const IDS = ["apple", "apple-2", "apricot", "fig", "注文"];

async function write(): Promise<void> {
  const store = new LmdbEventStore({ dir, now: () => 0, createdBy: "heddle test" });
  const log = await store.open(0);
  const executions = IDS.map((id, key) => new ScriptedExecution(key, id));
  await log.commit({ executions: executions.map((execution) => execution.start()) });
  await log.commit({ executions: [executions[0]!.advance(3)] });
  await log.commit({
    executions: [executions[0]!.complete(), executions[2]!.advance(1, { status: "suspended" })],
  });
  await store.close();
}

const beginnings = (records: readonly StoredRecord[]) => records.map(({ sequence }) => sequence);
const keys = (headers: readonly StoredHeader[]) => headers.map(({ key }) => key);

describe("a log inspector", () => {
  it("refuses a directory that is none of ours, and makes nothing in it", () => {
    expect(() => new LogInspector(dir)).toThrow(expect.objectContaining({ code: "DIRECTORY_UNKNOWN" }));
    expect(readdirSync(dir)).toEqual([]);
  });

  it("finds executions by id and by the beginning of an id", async () => {
    await write();
    const inspector = new LogInspector(dir);
    expect(inspector.find("apricot")).toEqual({ id: "apricot", partition: 0, key: 2 });
    expect(inspector.find("apri")).toBeUndefined();
    expect(inspector.idsFrom("ap", 10)).toEqual(["apple", "apple-2", "apricot"]);
    expect(inspector.idsFrom("apple", 1)).toEqual(["apple"]);
    expect(inspector.idsFrom("注", 10)).toEqual(["注文"]);
    expect(inspector.idsFrom("zebra", 10)).toEqual([]);
    for (const odd of ["", "x".repeat(5000)]) {
      expect(inspector.find(odd)).toBeUndefined();
      expect(inspector.idsFrom(odd, 10)).toEqual([]);
    }
    expect(inspector.idOf(0, 3)).toBe("fig");
    expect(inspector.idOf(0, 99)).toBeUndefined();
  });

  it("walks records by where they begin", async () => {
    await write();
    const inspector = new LogInspector(dir);
    const apple = inspector.find("apple")!;
    expect(beginnings(inspector.records(apple, 0, 10))).toEqual([0, 1, 4]);
    expect(beginnings(inspector.records(apple, 2, 10))).toEqual([4]);
    expect(beginnings(inspector.records(apple, 0, 2))).toEqual([0, 1]);
    expect(beginnings(inspector.records(apple, 2 ** 40, 2))).toEqual([]);
    expect([0, 1, 3, 4, 99, 2 ** 40].map((at) => inspector.beginning(apple, at))).toEqual([0, 1, 1, 4, 4, 4]);
    // The last of one execution, not the first of the next, whose key follows.
    expect(inspector.lastRecord(apple)).toMatchObject({ kind: "record", sequence: 4 });
    expect(inspector.lastRecord(inspector.find("apple-2")!)).toMatchObject({ sequence: 0 });
  });

  it("pages through headers, newest first, over several statuses", async () => {
    await write();
    const inspector = new LogInspector(dir);
    expect(keys(inspector.headers(0, ["running", "suspended", "completed"], Infinity, 10))).toEqual([
      4, 3, 2, 1, 0,
    ]);
    expect(keys(inspector.headers(0, ["running"], Infinity, 10))).toEqual([4, 3, 1]);
    expect(keys(inspector.headers(0, ["running", "suspended"], 3, 10))).toEqual([2, 1]);
    // A list cut off at 3 says nothing below 3: 2, of another status, waits for the next page.
    expect(keys(inspector.headers(0, ["running", "suspended"], Infinity, 2))).toEqual([4, 3]);
    expect(keys(inspector.headers(0, ["running"], 1, 10))).toEqual([]);
    expect(keys(inspector.headers(0, ["running"], 0, 10))).toEqual([]);
    expect(inspector.header(inspector.find("apple")!)).toMatchObject({
      header: { id: "apple", status: "completed" },
    });
  });

  it("makes no file, and leaves the directory free for an owner (C-LOG-03)", async () => {
    await write();
    const before = readdirSync(dir, { recursive: true });
    const inspector = new LogInspector(dir);
    inspector.find("apple");
    expect(readdirSync(dir, { recursive: true })).toEqual(before);
    const store = new LmdbEventStore({ dir, now: () => 0, createdBy: "heddle test" });
    const log = await store.open(0);
    await log.commit({ executions: [new ScriptedExecution(5, "late").start()] });
    expect(inspector.find("late")).toEqual({ id: "late", partition: 0, key: 5 });
    await store.close();
    await nextTurn();
  });
});

describe("a data file", () => {
  it("is there when LMDB has made it, and not before", async () => {
    const path = join(dir, "p000");
    expect(hasDataFile(path)).toBe(false);
    mkdirSync(path);
    writeFileSync(join(path, "data.mdb"), "");
    expect(hasDataFile(path)).toBe(false);
    await write();
    expect(hasDataFile(path)).toBe(true);
  });

  it("is refused when LMDB did not write it: opening it would end the process", () => {
    for (const content of ["short", "no database ".repeat(2000)]) {
      writeFileSync(join(dir, "data.mdb"), content);
      expect(() => hasDataFile(dir)).toThrow(expect.objectContaining({ code: "STORAGE_FAILED" }));
    }
  });
});
