// Cases: a pool that is closed leaves nobody waiting.

import assert from "node:assert/strict";
import { hasCode } from "../../kernel/index.js";
import { eventually } from "./attempt.js";
import type { PoolTest } from "./bench.js";

/** What a call may fail with that its pool closed on. */
const CLOSED = ["RUNTIME_CLOSED", "EFFECT_WORKER_LOST"] as const;

export function closingTests(test: PoolTest): void {
  test("what is under way and what waits is settled, typed", async (bench) => {
    const { file } = bench;
    const calls = [
      bench.dispatch("deaf", { file, ms: 60_000 }),
      bench.dispatch("obeys", { file }),
      ...Array.from({ length: 20 }, () => bench.dispatch("waits", { ms: 60_000 })),
    ];
    await eventually(() => bench.marks.length > 0, "one begins");
    await bench.close();
    for (const call of calls) {
      const outcome = await call.outcome();
      if (outcome.kind === "aborted") continue;
      const { error } = await call.failure();
      assert.ok(
        CLOSED.some((code) => hasCode(error, code)),
        String(error),
      );
    }
  }, 2);

  test("what is done within the deadline completes", async (bench) => {
    const call = bench.dispatch("deaf", { file: bench.file, ms: 50 });
    await eventually(() => bench.marks.includes("begun"), "it begins");
    await bench.close(10_000);
    assert.equal(await call.output(), "done");
  });

  test("what comes afterwards is refused, typed, and closing again is harmless", async (bench) => {
    await Promise.all([bench.close(), bench.close()]);
    const { kind, error } = await bench.dispatch("echo", 1).failure();
    assert.ok(kind === "failed" && hasCode(error, "RUNTIME_CLOSED"));
  });
}
