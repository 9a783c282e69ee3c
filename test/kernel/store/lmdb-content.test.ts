// Goal: what the content of a partition is on the disk (ADR 0010), and that nothing is left there of what was cut short.
// Method: the table is read with nothing of ours, and processes are killed in the middle of an upload.

import { join } from "node:path";
import { open } from "lmdb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LmdbEventStore } from "../../../src/kernel/store/index.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { latch } from "../../support/latch.js";
import { startChild } from "./child-process.js";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.js";

let temporary: TemporaryDirectory;
beforeEach(() => {
  temporary = temporaryDirectory();
});
afterEach(() => temporary.remove());

const binary = { encoding: "binary", keyEncoding: "binary" } as const;

function openStore(): LmdbEventStore {
  return new LmdbEventStore({
    dir: temporary.dir,
    sync: "commit",
    now: () => 1_700_000_000_000,
    createdBy: "heddle test",
  });
}

/** What lies in the table while nobody has it open. */
async function rows(): Promise<{ readonly key: string; readonly value: string; readonly bytes: number }[]> {
  const root = open<Uint8Array, Uint8Array>({
    path: join(temporary.dir, "p000"),
    readOnly: true,
    maxDbs: 24,
    ...binary,
  });
  const found = [...root.openDB<Uint8Array, Uint8Array>("content", binary).getRange()].map(
    ({ key, value }) => ({
      key: Buffer.from(key).toString("hex"),
      value: Buffer.from(value).subarray(0, 32).toString("hex"),
      bytes: value.length,
    }),
  );
  await root.close();
  return found;
}

describe("the content of a partition on the disk", () => {
  it("has the keys and values of ADR 0010", async () => {
    const store = openStore();
    const log = await store.open(0);
    const { ref } = await store.content.put(Buffer.alloc(65_530, "a"));
    const execution = new ScriptedExecution(2 ** 32 + 5, "a");
    const output = { __loomClaimCheck: true, ref, retain: true };
    await log.commit({ executions: [execution.start("in")] });
    await log.commit({ executions: [execution.append([{ type: "STEP_COMPLETED", stepId: "s", output }])] });
    await store.close();
    const hash = ref.slice("sha256:".length);
    expect(await rows()).toEqual([
      { key: `01${hash}`, value: "9501cdfffa01cdfff0cb4278bcfe56800000", bytes: 18 },
      { key: "02000000000000000100000000", value: "61".repeat(32), bytes: 65_520 },
      { key: "02000000000000000100000001", value: "61".repeat(10), bytes: 10 },
      { key: `04${hash}0000000100000005`, value: "01", bytes: 1 },
    ]);
  });

  it("is nothing after an upload failed, was repeated, or was deleted", async () => {
    const store = openStore();
    await store.open(0);
    const bytes = Buffer.alloc(3_000_000, "x");
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield bytes;
      throw new Error("the pipe broke");
    }
    await expect(store.content.put(broken())).rejects.toThrow("the pipe broke");
    const { ref } = await store.content.put(bytes);
    await store.content.put(bytes);
    expect(await store.content.delete(ref)).toBe(true);
    await store.close();
    expect(await rows()).toEqual([]);
  });
});

describe("empty content", () => {
  it("takes nothing of other content with it when it is deleted after a reopening", async () => {
    const first = openStore();
    await first.open(0);
    const { ref: empty } = await first.content.put("");
    await first.close();
    const store = openStore();
    await store.open(0);
    const { ref } = await store.content.put("not empty");
    expect(await store.content.delete(empty)).toBe(true);
    expect(Buffer.from((await store.content.get(ref)) ?? []).toString()).toBe("not empty");
    expect(await store.content.has(empty)).toBe(false);
    await store.close();
  });
});

describe("an upload that is cut short by SIGKILL", () => {
  it.each([1, 5, 12])(
    "after %i megabytes leaves nothing once the partition is opened again",
    async (megabytes) => {
      const child = startChild("uploader.ts", [temporary.dir]);
      const whole = await child.line();
      for (let line = ""; Number(line) < megabytes; ) line = await child.line();
      child.kill("SIGKILL");
      await child.ended();
      expect((await rows()).filter(({ key }) => key.startsWith("02")).length).toBeGreaterThan(46);

      const store = openStore();
      await store.open(0);
      const content = await store.content.get(whole);
      expect(Buffer.alloc(3_000_000, "whole").equals(content ?? Buffer.of())).toBe(true);
      await store.close();
      const left = await rows();
      // The hash, and the 46 chunks of what was whole.
      expect(left.filter(({ key }) => !key.startsWith("02")).map(({ key }) => key)).toEqual([
        `01${whole.slice("sha256:".length)}`,
      ]);
      expect(left).toHaveLength(47);
    },
  );

  it("and by closing, likewise", async () => {
    const store = openStore();
    await store.open(0);
    let given = 0;
    const enough = latch();
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; ; given++) {
        if (given === 3) enough.open();
        yield Buffer.alloc(1024 * 1024, given);
      }
    }
    const put = store.content.put(endless());
    put.catch(() => {});
    await enough.opened;
    await store.close();
    await expect(put).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    const again = openStore();
    await again.open(0);
    await again.close();
    expect(await rows()).toEqual([]);
  });
});

describe("a directory from before there was content", () => {
  /** Takes the table away. */
  async function forget(): Promise<void> {
    const root = open<Uint8Array, Uint8Array>({ path: join(temporary.dir, "p000"), maxDbs: 24, ...binary });
    await root.openDB<Uint8Array, Uint8Array>("content", binary).drop();
    await root.close();
  }

  it("is read without it, and has it from the next opening for writing on", async () => {
    const store = openStore();
    const log = await store.open(0);
    await log.commit({ executions: [new ScriptedExecution(0, "a").start("in")] });
    await store.close();
    await forget();

    const reader = openStore();
    expect(await reader.read("a")).toHaveLength(1);
    expect(await reader.content.get(`sha256:${"0".repeat(64)}`)).toBeNull();
    await expect(reader.content.put("x")).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    await reader.close();

    const owner = openStore();
    await owner.open(0);
    const { ref } = await owner.content.put("x");
    await owner.close();
    const later = openStore(); // not open for writing: read as any process would
    expect(Buffer.from((await later.content.get(ref)) ?? []).toString()).toBe("x");
    await later.close();
  });
});
