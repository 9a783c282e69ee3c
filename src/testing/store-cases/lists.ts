import assert from "node:assert/strict";
import { hasCode } from "../../kernel/errors.js";
import { partitionOf } from "../../kernel/ids.js";
import type { ExecutionHeader } from "../../kernel/store/spi.js";
import { ScriptedExecution } from "../scripted-execution.js";
import type { Test } from "./bench.js";

export function listTests(test: Test): void {
  const ids = (headers: readonly ExecutionHeader[]): string[] => headers.map(({ id }) => id);

  test("lists newest first, of any or of some statuses, of any or of one flow", async ({ store, commit }) => {
    const executions = Array.from(
      { length: 8 },
      (_, key) => new ScriptedExecution(key, `e${key}`, key % 2 ? "odd" : "even"),
    );
    await commit(...executions.map((execution) => execution.start()));
    await commit(
      executions[1]!.complete(),
      executions[6]!.complete(),
      executions[3]!.advance(1, { status: "suspended" }),
    );
    assert.deepEqual(ids(await store.list()), ["e7", "e6", "e5", "e4", "e3", "e2", "e1", "e0"]);
    assert.deepEqual(ids(await store.list({ status: "completed" })), ["e6", "e1"]);
    assert.deepEqual(ids(await store.list({ status: ["completed", "suspended"] })), ["e6", "e3", "e1"]);
    assert.deepEqual(ids(await store.list({ flowId: "odd" })), ["e7", "e5", "e3", "e1"]);
    assert.deepEqual(ids(await store.list({ flowId: "odd", status: "running" })), ["e7", "e5"]);
    assert.deepEqual(await store.list({ status: "failed" }), []);
    assert.deepEqual(await store.list({ status: [] }), []);
  });

  test("lists page after page without loss or repetition", async ({ store, commit }) => {
    const executions = Array.from(
      { length: 700 },
      (_, key) => new ScriptedExecution(key, `e${key}`, key % 3 ? "a" : "b"),
    );
    await commit(...executions.map((execution) => execution.start()));
    await commit(...executions.filter(({ key }) => key % 5 === 0).map((execution) => execution.complete()));
    const all: string[] = [];
    for (;;) {
      const after = all.at(-1);
      const page = await store.list({ flowId: "b", limit: 37, ...(after !== undefined && { after }) });
      all.push(...ids(page));
      if (page.length < 37) break;
    }
    const expected = executions.filter(({ flowId }) => flowId === "b").map(({ id }) => id);
    assert.deepEqual(all, expected.reverse());
    assert.equal((await store.list()).length, 100);
    assert.equal((await store.list({ limit: 1000 })).length, 700);
  });

  test("refuses to go on after an execution it does not know", async ({ store }) => {
    await assert.rejects(store.list({ after: "nobody" }), (error) => hasCode(error, "EXECUTION_UNKNOWN"));
  });

  test("lists the partitions one after the other, also across a page's end", async ({
    store,
    log,
    commit,
  }) => {
    const second = await store.open(1);
    const executions = Array.from({ length: 40 }, (_, index) => new ScriptedExecution(index, `e${index}`));
    const inPartition = (partition: number) =>
      executions.filter(({ id }) => partitionOf(id, 2) === partition);
    await commit(...inPartition(0).map((execution) => execution.start()));
    await second.commit({ executions: inPartition(1).map((execution) => execution.start()) });
    const expected = [...inPartition(0).reverse(), ...inPartition(1).reverse()].map(({ id }) => id);
    assert.deepEqual(ids(await store.list()), expected);
    const first = await store.list({ limit: inPartition(0).length - 3 });
    const rest = await store.list({ after: first.at(-1)!.id });
    assert.deepEqual(ids([...first, ...rest]), expected);
    assert.deepEqual(await log.lookup([inPartition(1)[0]!.id]), [undefined]);
    assert.equal((await store.read(inPartition(1)[0]!.id)).length, 1);
  }, 2);
}
