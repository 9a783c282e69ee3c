// Goal: with `sync: "flush"`, `commit` resolves when its batch is on the disk, not when it is visible. To be looked at
// again with every new version of lmdb-js (pinned in package.json), whose promises resolve earlier.
// Method: (1) hold back lmdb-js's own word of the flush and see that `commit` waits for it, subscribers too. (2) read in
// the file what LMDB itself records after its flush: beside the meta page of the last commit it keeps one that it
// writes after fdatasync, with the transaction's number.

import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LmdbEventStore } from "../../../src/kernel/store/index.js";
import type { LmdbPartitionLog } from "../../../src/kernel/store/lmdb/lmdb-partition.js";
import { ScriptedExecution } from "../../../src/testing/scripted-execution.js";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.js";

let temporary: TemporaryDirectory;
beforeEach(() => {
  temporary = temporaryDirectory();
});
afterEach(() => temporary.remove());

const openStore = (sync: "flush" | "commit"): LmdbEventStore =>
  new LmdbEventStore({ dir: temporary.dir, sync, now: Date.now, createdBy: "heddle test" });

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("durability", () => {
  it("is waited for after the batch is visible, by commit and by subscribers", async () => {
    const store = openStore("flush");
    const log = await store.open(0);
    const { root } = (log as LmdbPartitionLog).writer.environment;
    let flush: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      flush = resolve;
    });
    const real = root.flushed;
    Object.defineProperty(root, "flushed", { value: Promise.all([gate, real]) });
    const execution = new ScriptedExecution(0);
    const told: string[] = [];
    store.subscribe(execution.id, () => void told.push("subscriber"));
    const commit = log.commit({ executions: [execution.start()] }).then(() => told.push("commit"));
    while ((await store.read(execution.id)).length === 0) await nextTurn();
    await root.committed;
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect(told).toEqual([]);
    flush();
    await commit;
    expect(told).toEqual(["subscriber", "commit"]);
    await store.close();
  });

  it.skipIf(process.platform === "win32")(
    "is what LMDB has recorded of its flush when commit resolves",
    async () => {
      const store = openStore("flush");
      const log = await store.open(0);
      const execution = new ScriptedExecution(0);
      await log.commit({ executions: [execution.start()] });
      const first = readMetas().committed;
      for (let commit = 0; commit < 100; commit++) {
        await log.commit({ executions: [execution.advance(1)] });
        const { committed, flushed } = readMetas();
        expect(flushed).toBe(committed);
      }
      expect(readMetas().committed - first).toBe(100n);
      await store.close();
    },
  );

  it('is not promised by sync: "commit", which leaves flushing to the operating system', async () => {
    const store = openStore("commit");
    const log = await store.open(0);
    const execution = new ScriptedExecution(0);
    await log.commit({ executions: [execution.start()] });
    const { committed, flushed } = readMetas();
    expect(flushed).toBeLessThan(committed);
    await store.close();
  });
});

/**
 * The transaction numbers of LMDB's metas: the newer of the two at the start of the first two pages, and of the one it
 * writes half a page into the first after a flush. Magic numbers mark the first two.
 */
function readMetas(): { committed: bigint; flushed: bigint } {
  const bytes = Buffer.alloc(65536);
  const file = openSync(join(temporary.dir, "p000", "data.mdb"), "r");
  readSync(file, bytes, 0, bytes.length, 0);
  closeSync(file);
  const magic = Buffer.from([0xde, 0xc0, 0xef, 0xbe]);
  const first = bytes.indexOf(magic);
  const second = bytes.indexOf(magic, first + 1);
  const halfway = first + (second - first) / 2;
  const [a, b, flushed] = [first, second, halfway].map((meta) =>
    bytes.readBigUInt64LE(meta + META_TRANSACTION),
  );
  return { committed: a! > b! ? a! : b!, flushed: flushed! };
}

const META_TRANSACTION = 128;
