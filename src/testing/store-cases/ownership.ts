import assert from "node:assert/strict";
import { hasCode } from "../../kernel/errors.js";
import { ScriptedExecution } from "../scripted-execution.js";
import type { Capabilities, Test } from "./bench.js";

export function ownershipTests(test: Test, { persistent }: Capabilities): void {
  test("refuses a second owner at once, and counts owners (C-LOG-04)", async ({ store, log, commit }) => {
    await commit(new ScriptedExecution(0).start());
    await assert.rejects(store.open(0), (error) => hasCode(error, "PARTITION_LOCKED"));
    await log.close();
    const second = await store.open(0);
    assert.equal(second.epoch, log.epoch + 1);
    assert.equal(second.nextKey, 1);
    await assert.rejects(store.open(0), (error) => hasCode(error, "PARTITION_LOCKED"));
    await second.commit({ executions: [new ScriptedExecution(1).start()] });
    assert.equal((await store.list()).length, 2);
  });

  test("refuses a partition there is not", async ({ store }) => {
    for (const partition of [-1, 1, 0.5]) {
      await assert.rejects(store.open(partition), (error) => hasCode(error, "CONFIG_INVALID"));
    }
  });

  test("takes nothing more once closed, however often it is closed", async ({ store, log, commit }) => {
    await commit(new ScriptedExecution(0).start());
    const late = commit(new ScriptedExecution(1).start());
    await log.close();
    await late; // What was handed over before is written.
    await log.close();
    const failed = (error: unknown): boolean => hasCode(error, "STORAGE_FAILED");
    await assert.rejects(commit(new ScriptedExecution(2).start()), failed);
    await assert.rejects(log.page("running", -1, 1), failed);
    assert.equal((await store.list()).length, 2);
    await store.close();
    await store.close();
    await assert.rejects(store.list(), failed);
    await assert.rejects(store.open(0), failed);
  });

  if (!persistent) return;
  test("finds everything again with another store object", async ({ underTest, commit, log }) => {
    const [first, second] = [new ScriptedExecution(0), new ScriptedExecution(1)];
    const timer = { wakeAt: 7, key: 1, gateId: "g" };
    await commit(first.start([1, 2]), second.start({}, { arm: [timer], status: "suspended" }));
    await commit(first.complete("out"));
    const events = await underTest.store.read(first.id);
    const store = await underTest.reopen();
    const reopened = await store.open(0);
    assert.equal(reopened.epoch, log.epoch + 1);
    assert.equal(reopened.nextKey, 2);
    assert.deepEqual(await store.read(first.id), events);
    assert.deepEqual(await reopened.lookup([first.id, second.id]), [first.header, second.header]);
    assert.deepEqual(await reopened.timersDue(10, 10), [timer]);
    await reopened.commit({ executions: [second.complete()] });
    assert.equal((await store.find(second.id))?.status, "completed");
  });
}
