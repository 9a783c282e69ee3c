import assert from "node:assert/strict";
import { hasCode } from "../../kernel/errors.js";
import { ID_BYTES_MAX } from "../../kernel/ids.js";
import { ScriptedExecution } from "../scripted-execution.js";
import type { Test } from "./bench.js";

export function commitTests(test: Test): void {
  test("writes nothing of a batch with a member it refuses", async ({ store, log, commit }) => {
    const kept = new ScriptedExecution(0);
    await commit(kept.start());
    const before = new ScriptedExecution(1);
    const wrong = new ScriptedExecution(2, "x".repeat(ID_BYTES_MAX + 1));
    const after = new ScriptedExecution(3);
    await assert.rejects(
      commit(kept.advance(1, { status: "suspended" }), before.start(), wrong.start(), after.start()),
      (error) => hasCode(error, "ID_INVALID"),
    );
    await log.commit({ executions: [] });
    assert.deepEqual(await log.lookup([before.id, wrong.id, after.id]), [undefined, undefined, undefined]);
    assert.deepEqual(
      await log.load([0, 1, 2, 3]).then((logs) => logs.map((log) => (log as []).length)),
      [1, 0, 0, 0],
    );
    assert.equal((await store.find(kept.id))?.status, "running");
  });

  test("takes nothing after a failed commit until an empty one got through", async ({
    store,
    log,
    commit,
  }) => {
    const wrong = new ScriptedExecution(0, "");
    const failing = commit(wrong.start());
    // Handed over before the failure is known: it may follow on from what failed.
    const behind = commit(new ScriptedExecution(1).start());
    await assert.rejects(failing, (error) => hasCode(error, "ID_INVALID"));
    await assert.rejects(behind, (error) => hasCode(error, "STORAGE_FAILED"));
    await assert.rejects(commit(new ScriptedExecution(2).start()), (error) =>
      hasCode(error, "STORAGE_FAILED"),
    );
    await log.commit({ executions: [] });
    const execution = new ScriptedExecution(3);
    await commit(execution.start());
    assert.deepEqual(await store.list(), [execution.header]);
  });

  test("keeps the order of commits that do not wait for each other", async ({ store, commit }) => {
    const execution = new ScriptedExecution(0);
    const commits = [commit(execution.start())];
    for (let pass = 0; pass < 50; pass++) commits.push(commit(execution.advance(1)));
    await Promise.all(commits);
    const events = await store.read(execution.id);
    assert.deepEqual(
      events.slice(1).map(({ payload }) => payload),
      Array.from({ length: 50 }, (_, index) => ({ at: index + 1 })),
    );
  });

  test("takes many executions in one batch", async ({ store, log, commit }) => {
    const executions = Array.from({ length: 3000 }, (_, key) => new ScriptedExecution(key));
    await commit(...executions.map((execution) => execution.start({ key: execution.key })));
    await commit(...executions.map((execution) => execution.complete()));
    assert.equal((await log.page("completed", -1, 5000)).length, 3000);
    assert.equal((await store.read("execution-2999")).length, 2);
  });

  test("takes an empty batch", async ({ store, log }) => {
    await log.commit({ executions: [] });
    assert.deepEqual(await store.list(), []);
  });
}
