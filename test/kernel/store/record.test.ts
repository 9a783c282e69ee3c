import { join } from "node:path";
import { open } from "lmdb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packRecord } from "../../../src/kernel/codec/index.js";
import { LmdbEventStore } from "../../../src/kernel/store/index.js";
import { decodeHeader, decodeRecord, headerToWire, recordToWire } from "../../../src/kernel/store/record.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.js";

const execution = new ScriptedExecution(7);
const { record } = execution.start({ n: 1n, when: new Date(9) });

describe("a stored record", () => {
  it("comes back as it was", () => {
    expect(decodeRecord(0, packRecord(recordToWire(record!)))).toEqual(record);
    const { header } = execution;
    expect(decodeHeader("running", 7, packRecord(headerToWire(header)))).toEqual(header);
    const aside = { code: "FLOW_UNKNOWN", message: "no such flow" };
    expect(
      decodeHeader("setAside", 7, packRecord(headerToWire({ ...header, status: "setAside", aside }))).aside,
    ).toEqual(aside);
  });

  it.each([
    ["nothing", new Uint8Array()],
    ["text", packRecord("text")],
    ["an empty list", packRecord([])],
    ["a version from the future", packRecord([99, 5, [1]])],
    ["a version below one", packRecord([0, 5])],
    ["no timestamp", packRecord([1, "now", [1, "flow", "1", null, []]])],
    ["a kind of event nobody knows", packRecord([1, 5, [999]])],
    ["an event that is no list", packRecord([1, 5, "event"])],
    ["half of itself", packRecord(recordToWire(record!)).subarray(0, 9)],
  ])("is unreadable when it is %s", (_what, bytes) => {
    expect(() => decodeRecord(0, bytes)).toThrow(expect.objectContaining({ code: "RECORD_UNREADABLE" }));
  });

  it("says which version it needs", () => {
    expect(() => decodeRecord(0, packRecord([99, 5]))).toThrow(/version 99; this heddle reads up to 1/);
  });

  it.each([
    ["text", packRecord("text")],
    ["without an id", packRecord([1, 5, "flow", "1", 0, 0, 0])],
    ["without times", packRecord([1, "a", "flow", "1", 0])],
    ["from the future", packRecord([2, "a", "flow", "1", 0, 0, 0])],
  ])("is an unreadable header when it is %s", (_what, bytes) => {
    expect(() => decodeHeader("running", 7, bytes)).toThrow(
      expect.objectContaining({ code: "RECORD_UNREADABLE" }),
    );
  });
});

describe("a damaged record in a directory", () => {
  let temporary: TemporaryDirectory;
  beforeEach(() => {
    temporary = temporaryDirectory();
  });
  afterEach(() => temporary.remove());

  it("costs its execution alone", async () => {
    const openStore = (): LmdbEventStore =>
      new LmdbEventStore({ dir: temporary.dir, now: Date.now, createdBy: "heddle test" });
    const executions = [0, 1, 2].map((key) => new ScriptedExecution(key));
    const writer = openStore();
    await (await writer.open(0)).commit({ executions: executions.map((each) => each.start()) });
    await writer.close();
    const binary = { encoding: "binary", keyEncoding: "binary" } as const;
    const root = open({ path: join(temporary.dir, "p000"), maxDbs: 24, ...binary });
    await root
      .openDB("log", binary)
      .put(Buffer.from("000000000000000100000000", "hex"), Buffer.from("damage"));
    await root.close();

    const errors: unknown[] = [];
    const store = new LmdbEventStore({
      dir: temporary.dir,
      now: Date.now,
      createdBy: "heddle test",
      onListenerError: (error, executionId) => void errors.push([executionId, error]),
    });
    const log = await store.open(0);
    const unreadable: unknown = expect.objectContaining({ code: "RECORD_UNREADABLE" });
    const loaded = await log.load([0, 1, 2]);
    expect(loaded).toEqual([expect.any(Array), unreadable, expect.any(Array)]);
    await expect(store.read("execution-1")).rejects.toEqual(unreadable);
    expect((await store.read("execution-2")).length).toBe(1);
    const seen: unknown[] = [];
    store.subscribe("execution-1", (event) => void seen.push(event), { from: 0 });
    while (errors.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(errors).toEqual([["execution-1", unreadable]]);
    expect(seen).toEqual([]);
    await store.close();
  });
});
