import assert from "node:assert/strict";
import { hasCode } from "../../kernel/errors.js";
import { ID_BYTES_MAX } from "../../kernel/ids.js";
import { ScriptedExecution } from "../scripted-execution.js";
import type { Test } from "./bench.js";

export function identifierTests(test: Test): void {
  test("keeps ids of every legal length, and tells them apart", async ({ store, log, commit }) => {
    const lengths = [1, 2, 7, 8, 9, 63, 64, 500, 511, 512, 1000, 1016, 1020, 1023, 1024];
    const ascii = lengths.map((length) => "i".repeat(length));
    // Four bytes and two UTF-16 units each.
    const emoji = [1, 2, 16, 125, 128, 255, 256].map((count) => "🧶".repeat(count));
    const ids = [...ascii, ...emoji, "ünï-cödé", "a/b?c=d&e", " ", "\u{10ffff}"];
    const executions = ids.map((id, key) => new ScriptedExecution(key, id));
    await commit(...executions.map((execution) => execution.start(execution.key)));
    for (const { id, key, header } of executions) {
      const [started] = await store.read(id);
      assert.equal(started?.executionId, id);
      assert.deepEqual(started?.payload, { flowId: "flow", flowVersion: "1", input: key, flags: [] });
      assert.deepEqual(await store.find(id), header);
    }
    assert.deepEqual(
      await log.lookup(ids),
      executions.map(({ header }) => header),
    );
  });

  for (const [what, id] of [
    ["is empty", ""],
    ["is one byte too long", "x".repeat(ID_BYTES_MAX + 1)],
    ["is too long in bytes, not in characters", "🧶".repeat(ID_BYTES_MAX / 4 + 1)],
    ["is not well-formed", "\ud800"],
  ] as const) {
    test(`refuses an id that ${what}`, async ({ store, commit }) => {
      await assert.rejects(commit(new ScriptedExecution(0, id).start()), (error) =>
        hasCode(error, "ID_INVALID"),
      );
      assert.deepEqual(await store.list(), []);
    });
  }
}
