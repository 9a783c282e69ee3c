import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HeddleError, type HeddleErrorCode } from "../../../src/kernel/errors.js";
import { LmdbEventStore } from "../../../src/kernel/store/index.js";
import type { LmdbEventStoreOptions } from "../../../src/kernel/store/lmdb/lmdb-event-store.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.js";

let temporary: TemporaryDirectory;
let dir: string;
beforeEach(() => {
  temporary = temporaryDirectory();
  dir = join(temporary.dir, "log");
});
afterEach(() => temporary.remove());

function openStore(options: Partial<LmdbEventStoreOptions> = {}): LmdbEventStore {
  return new LmdbEventStore({ dir, now: () => 1_700_000_000_000, createdBy: "heddle 1.2.3", ...options });
}

function refusal(attempt: () => unknown): HeddleError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof HeddleError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

const everything = (): string[] => readdirSync(temporary.dir, { recursive: true }).map(String).sort();

describe("importing and making a store (C-EMB-01)", () => {
  // The first test of this file: files do not share a process.
  it("loads no native code", () => {
    openStore();
    expect(Object.keys(globalThis).filter((name) => name.includes("lmdb"))).toEqual([]);
  });
});

describe("the directory", () => {
  it("is made by the first opening, not by the object", async () => {
    const store = openStore({ partitions: 3 });
    expect(store.partitions).toBe(3);
    expect(await store.list()).toEqual([]);
    expect(await store.read("nobody")).toEqual([]);
    expect(everything()).toEqual([]);
    await store.open(1);
    await store.close();
    expect(everything()).toEqual([
      "log",
      "log/heddle.json",
      "log/p001",
      "log/p001/data.mdb",
      "log/p001/lock.mdb",
      "log/p001/opening.lock",
      "log/p001/opening.turn",
      "log/p001/owner.lock",
    ]);
    expect(JSON.parse(readFileSync(join(dir, "heddle.json"), "utf8"))).toEqual({
      format: 1,
      partitions: 3,
      createdBy: "heddle 1.2.3",
      createdAt: "2023-11-14T22:13:20.000Z",
    });
  });

  it("keeps the number of partitions it was made with", async () => {
    const first = openStore({ partitions: 3 });
    await first.open(0);
    await first.close();
    expect(openStore().partitions).toBe(3);
    const { code, message, details } = refusal(() => openStore({ partitions: 4 }));
    expect(code).toBe("CONFIG_INVALID");
    expect(message).toMatch(/made with 3 partitions and is opened with 4/);
    expect(details).toEqual({ directory: dir, found: 3, wanted: 4 });
  });

  it("is not opened by an object that was made before another one made it otherwise", async () => {
    const slow = openStore({ partitions: 2 });
    const quick = openStore({ partitions: 5 });
    await quick.open(0);
    await expect(slow.open(1)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { found: 5, wanted: 2 },
    });
    await slow.close();
    await quick.close();
  });

  it.each([0, -1, 1.5, 1000, Number.NaN])("is not made with %s partitions", (partitions) => {
    expect(refusal(() => openStore({ partitions })).code).toBe("CONFIG_INVALID");
  });
});

describe("a reader that may not make anything", () => {
  it.each([
    ["the directory does not exist", () => undefined],
    ["it is something else", () => mkdirSync(dir)],
  ])("refuses when %s, and leaves it so", (_what, prepare) => {
    prepare();
    const before = everything();
    const { code, message } = refusal(() => openStore({ create: false }));
    expect(code).toBe<HeddleErrorCode>("DIRECTORY_UNKNOWN");
    expect(message).toContain(dir);
    expect(everything()).toEqual(before);
  });

  it("leaves a log as it is, also where a partition was never opened", async () => {
    const writer = openStore({ partitions: 2 });
    const log = await writer.open(0);
    await log.commit({ executions: [new ScriptedExecution(0, "a").start()] });
    await writer.close();
    const before = everything();
    const reader = openStore({ create: false });
    expect((await reader.list()).map(({ id }) => id)).toEqual(["a"]);
    await reader.close();
    expect(everything()).toEqual(before);
  });

  it("opens partitions of a directory that is there", async () => {
    const writer = openStore({ partitions: 2 });
    await writer.open(0);
    await writer.close();
    const store = openStore({ create: false });
    expect((await store.open(1)).epoch).toBe(1);
    await store.close();
  });
});

describe("the format number (C-LOG-04)", () => {
  beforeEach(async () => {
    const store = openStore();
    const log = await store.open(0);
    await log.commit({ executions: [new ScriptedExecution(0).start()] });
    await store.close();
  });

  const setFormat = (change: object): void => {
    const file = join(dir, "heddle.json");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...change }));
  };
  const bytes = (): string => readFileSync(join(dir, "p000", "data.mdb")).toString("base64");

  it.each([
    [2, /format 2 .* knows formats up to 1.*heddle 1\.2\.3.*Install a newer heddle/],
    [0, /format 0 .*no longer knows formats before 1.*heddle 1\.2\.3.*upgrade/],
    ["1", /no format number/],
    [undefined, /no format number/],
  ])("%s is refused with what to do, before anything is written", (format, message) => {
    setFormat({ format });
    const before = bytes();
    for (const create of [true, false]) {
      const error = refusal(() => openStore({ create }));
      expect(error.code).toBe("FORMAT_UNSUPPORTED");
      expect(error.message).toMatch(message);
    }
    expect(bytes()).toBe(before);
  });

  it("is looked at again when a partition is opened", async () => {
    const store = openStore();
    setFormat({ format: 2 });
    await expect(store.open(0)).rejects.toMatchObject({ code: "FORMAT_UNSUPPORTED" });
    await store.close();
  });

  it.each(["", "{", "null", "[]", '{"format":1}', '{"format":1,"partitions":"2"}'])(
    "is refused in %j",
    (text) => {
      writeFileSync(join(dir, "heddle.json"), text);
      expect(refusal(() => openStore()).code).toBe("FORMAT_UNSUPPORTED");
    },
  );
});

describe("opening and closing (C-EMB-02)", () => {
  it("works a hundred times in one process, and leaves nothing open", async () => {
    const openFiles = (): number => (existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0);
    const cycle = async (count: number): Promise<void> => {
      const store = openStore({ partitions: 2 });
      const logs = [await store.open(0), await store.open(1)];
      const execution = new ScriptedExecution(logs[0]!.nextKey, `e${count}`);
      await logs[0]!.commit({ executions: [execution.start()] });
      await store.close();
    };
    await cycle(0);
    const [files, listeners] = [openFiles(), process.listenerCount("exit")];
    for (let count = 1; count < 100; count++) await cycle(count);
    expect(openFiles()).toBe(files);
    expect(process.listenerCount("exit")).toBe(listeners);
    const reader = openStore({ create: false });
    expect((await reader.list({ limit: 1000 })).length).toBe(100);
    await reader.close();
  });

  it("keeps two directories of one process apart", async () => {
    const [one, other] = [openStore(), openStore({ dir: `${dir}-2` })];
    const [log] = [await one.open(0), await other.open(0)];
    await log.commit({ executions: [new ScriptedExecution(0, "a").start()] });
    expect((await one.list()).length).toBe(1);
    expect(await other.list()).toEqual([]);
    await one.close();
    await (await other.open(0).catch(() => undefined))?.close();
    expect(await other.list()).toEqual([]);
    await other.close();
  });

  it("closes a partition that is just being opened", async () => {
    const store = openStore();
    const opening = store.open(0);
    await store.close();
    const log = await opening;
    await expect(log.page("running", -1, 1)).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    const again = openStore();
    expect((await again.open(0)).epoch).toBe(log.epoch + 1);
    await again.close();
  });
});
