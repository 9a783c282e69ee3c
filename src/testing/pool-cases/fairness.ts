// Cases: more calls than may be under way at a time.

import assert from "node:assert/strict";
import type { PoolTest } from "./bench.js";

export function fairnessTests(test: PoolTest): void {
  test("one with very many calls does not keep another's few waiting", async (bench) => {
    const many = Array.from({ length: 400 }, (_, n) =>
      bench.dispatch("waits", { ms: 5, value: n }, { executionId: "many" }),
    );
    const few = Array.from({ length: 2 }, (_, n) =>
      bench.dispatch("waits", { ms: 5, value: n }, { executionId: "few" }),
    );
    await Promise.all(few.map((call) => call.output()));
    const done = many.filter(({ outcomes }) => outcomes.length > 0).length;
    assert.ok(done < many.length / 2, `${done} of ${many.length} went before`);
    for (const [n, call] of many.entries()) assert.equal(await call.output(), n);
  }, 4);

  test("a call that waits for its turn may be aborted, and does not begin then", async (bench) => {
    const { file } = bench;
    const first = bench.dispatch("deaf", { file, name: "first", ms: 200 });
    const waiting = Array.from({ length: 3 }, () => bench.dispatch("deaf", { file, name: "waiting", ms: 0 }));
    for (const call of waiting) call.abort(new Error("not wanted"));
    for (const call of waiting) assert.equal((await call.outcome()).kind, "aborted");
    assert.equal(await first.output(), "done");
    assert.deepEqual(bench.marks, ["begun first", "done first"]);
  }, 1);
}
