import assert from "node:assert/strict";
import { toWire } from "../../kernel/codec/index.js";
import { ID_BYTES_MAX } from "../../kernel/ids.js";
import type { SnapshotStore } from "../../kernel/store/spi.js";
import type { SuiteRunner } from "./bench.js";

export interface SnapshotStoreSuiteOptions extends SuiteRunner {
  readonly name: string;
  readonly open: () => Promise<{ readonly snapshots: SnapshotStore; readonly dispose: () => Promise<void> }>;
}

export function snapshotStoreSuite({ name, describe, it, open }: SnapshotStoreSuiteOptions): void {
  const test = (title: string, run: (snapshots: SnapshotStore) => Promise<void>): void =>
    it(title, async () => {
      const { snapshots, dispose } = await open();
      try {
        await run(snapshots);
      } finally {
        await dispose();
      }
    });
  describe(`${name}: snapshot store`, () => {
    test("gives back the last snapshot of an execution", async (snapshots) => {
      assert.equal(await snapshots.load("a"), undefined);
      await snapshots.save({ executionId: "a", sequence: 3, state: { frames: {}, status: "running" } });
      await snapshots.save({ executionId: "b", sequence: 1, state: [1] });
      await snapshots.save({
        executionId: "a",
        sequence: 9,
        state: { frames: { s: { attempts: 1 } }, status: "running" },
      });
      assert.deepEqual(await snapshots.load("a"), {
        executionId: "a",
        sequence: 9,
        state: { frames: { s: { attempts: 1 } }, status: "running" },
      });
      assert.deepEqual((await snapshots.load("b"))?.state, [1]);
    });

    test("keeps the wires a folded state holds", async (snapshots) => {
      const state = { output: toWire(new Map([["when", new Date(5)]])), error: undefined };
      await snapshots.save({ executionId: "a", sequence: 0, state });
      assert.deepEqual((await snapshots.load("a"))?.state, state);
    });

    test("does not see what happens to a state after it was saved or loaded", async (snapshots) => {
      const state = { list: [1] };
      await snapshots.save({ executionId: "a", sequence: 0, state });
      state.list.push(2);
      const loaded = await snapshots.load("a");
      (loaded as { state: typeof state }).state.list.push(3);
      assert.deepEqual((await snapshots.load("a"))?.state, { list: [1] });
    });

    test("forgets what was deleted, and takes the deletion of what is not there", async (snapshots) => {
      const longest = "x".repeat(ID_BYTES_MAX);
      await snapshots.save({ executionId: longest, sequence: 0, state: 1 });
      assert.equal((await snapshots.load(longest))?.state, 1);
      await snapshots.delete(longest);
      await snapshots.delete(longest);
      assert.equal(await snapshots.load(longest), undefined);
    });
  });
}
