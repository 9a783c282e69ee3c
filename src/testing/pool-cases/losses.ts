// Cases: a worker is lost. Whoever waits for it is told, typed; what may not be repeated is not; the pool goes on.

import assert from "node:assert/strict";
import { hasCode } from "../../kernel/index.js";
import { eventually } from "./attempt.js";
import type { PoolTest } from "./bench.js";

export function lossTests(test: PoolTest): void {
  test("the call that took it down fails, typed, and may be tried again", async (bench) => {
    const failure = await bench.dispatch("exits", { file: bench.file }).failure();
    assert.ok(hasCode(failure.error, "EFFECT_WORKER_LOST"), String(failure.error));
    assert.ok(failure.kind === "failed" && failure.retryable);
    assert.equal(await bench.dispatch("echo", "goes on").output(), "goes on");
  });

  test("every call it had is settled: run again as the same attempt, or failed, typed", async (bench) => {
    const { file } = bench;
    const neighbours = Array.from({ length: 12 }, (_, n) =>
      bench.dispatch("deaf", { file, name: String(n), ms: 60 }, { executionId: `neighbour-${n}` }),
    );
    await eventually(() => bench.marks.length > 0, "one begins");
    const culprit = bench.dispatch("exits", { file, name: "culprit" });
    assert.ok(hasCode((await culprit.failure()).error, "EFFECT_WORKER_LOST"));
    for (const call of neighbours) {
      const outcome = await call.outcome();
      if (outcome.kind === "completed") continue;
      assert.ok(hasCode((await call.failure()).error, "EFFECT_WORKER_LOST"));
    }
  });

  test("what may not be repeated and had begun is in doubt, and does not run again", async (bench) => {
    const { file } = bench;
    const once = { idempotent: false };
    const neighbour = bench.dispatch("deaf", { file, name: "neighbour", ms: 5_000 }, once);
    await eventually(() => bench.marks.includes("begun neighbour"), "the neighbour begins");
    const { kind, error } = await bench.dispatch("exits", { file, name: "culprit" }, once).failure();
    assert.equal(kind, "inDoubt");
    assert.ok(hasCode(error, "EFFECT_WORKER_LOST"));
    if (bench.marks.includes("done neighbour")) return; // it had a worker of its own
    const outcome = await neighbour.outcome();
    assert.ok(outcome.kind === "inDoubt" || outcome.kind === "completed", outcome.kind);
    assert.equal(bench.marks.filter((line) => line === "begun neighbour").length, 1);
    assert.equal(bench.marks.filter((line) => line === "begun culprit").length, 1);
  });
}
