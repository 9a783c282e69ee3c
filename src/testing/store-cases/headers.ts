import assert from "node:assert/strict";
import type { PartitionLog } from "../../kernel/store/spi.js";
import { ScriptedExecution } from "../scripted-execution.js";
import type { Test } from "./bench.js";

export function headerTests(test: Test): void {
  test("finds headers by id and by key, in the order asked for", async ({ store, log, commit }) => {
    const executions = [0, 1, 2].map((key) => new ScriptedExecution(key));
    await commit(...executions.map((execution) => execution.start()));
    const [first, , third] = executions.map(({ header }) => header);
    assert.deepEqual(await log.lookup(["execution-2", "nobody", "execution-0"]), [third, undefined, first]);
    assert.deepEqual(await log.headers([2, 9, 0]), [third, undefined, first]);
    assert.deepEqual(await store.find("execution-2"), third);
  });

  test("writes a header when its status changes, and only then", async ({ store, commit }) => {
    const execution = new ScriptedExecution(0);
    await commit(execution.start());
    const { header } = execution;
    await commit(execution.advance(5));
    assert.deepEqual(await store.find(execution.id), header);
    await commit(execution.advance(1, { status: "suspended" }));
    assert.deepEqual(await store.find(execution.id), execution.header);
    assert.equal(execution.header.sequence, 6);
  });

  test("files each header under one status, oldest first", async ({ log, commit }) => {
    const executions = Array.from({ length: 6 }, (_, key) => new ScriptedExecution(key));
    await commit(...executions.map((execution) => execution.start()));
    await commit(
      executions[1]!.advance(1, { status: "suspended" }),
      executions[4]!.advance(1, { status: "suspended" }),
      executions[2]!.complete(),
    );
    await commit(executions[4]!.advance(1, { status: "running" }));
    const keys = async (...page: Parameters<PartitionLog["page"]>): Promise<number[]> =>
      (await log.page(...page)).map(({ key }) => key);
    assert.deepEqual(await keys("running", -1, 100), [0, 3, 4, 5]);
    assert.deepEqual(await keys("running", -1, 2), [0, 3]);
    assert.deepEqual(await keys("running", 3, 2), [4, 5]);
    assert.deepEqual(await keys("running", 5, 2), []);
    assert.deepEqual(await keys("suspended", -1, 100), [1]);
    assert.deepEqual(await log.page("completed", -1, 100), [executions[2]!.header]);
    assert.deepEqual(await keys("cancelled", -1, 100), []);
  });

  test("keeps why an execution was set aside, without a record of its own", async ({
    store,
    log,
    commit,
  }) => {
    const execution = new ScriptedExecution(0);
    await commit(execution.start());
    const aside = { code: "FLOW_UNKNOWN", message: "no flow is registered as flow 1" };
    await commit(execution.append([], { status: "setAside", aside }));
    assert.deepEqual(await log.page("setAside", -1, 10), [{ ...execution.header, aside }]);
    assert.equal((await store.read(execution.id)).length, 1);
    await commit(execution.append([], { status: "running" }));
    assert.equal((await store.find(execution.id))?.aside, undefined);
  });
}
