// Cases: a call is run once, with its context, and settled once; nobody waits for a neighbour.

import assert from "node:assert/strict";
import { hasCode } from "../../kernel/index.js";
import type { PoolTest } from "./bench.js";

export function outcomeTests(test: PoolTest): void {
  test("is what the effect gave, at once or later", async (bench) => {
    assert.equal(await bench.dispatch("echo", "now").output(), "now");
    assert.equal(await bench.dispatch("waits", { ms: 5, value: "later" }).output(), "later");
    assert.equal(await bench.dispatch("waits", { ms: 0 }).output(), undefined);
  });

  test("is one outcome for each of very many, also when a promise calls back twice", async (bench) => {
    const calls = Array.from({ length: 300 }, (_, n) =>
      n % 3 === 0 ? bench.dispatch("twice") : bench.dispatch("echo", n),
    );
    for (const [n, call] of calls.entries()) assert.equal(await call.output(), n % 3 === 0 ? "first" : n);
    for (const { outcomes } of calls) assert.equal(outcomes.length, 1);
  });

  test("comes from an effect that knows which attempt of which step it serves", async (bench) => {
    const call = bench.dispatch("context", undefined, { executionId: "order-17", attempt: 3 });
    const { stepId, idempotencyKey } = call;
    assert.deepEqual(await call.output(), {
      executionId: "order-17",
      workflowId: "conformance",
      stepId,
      attempt: 3,
      toolId: "context",
      taskKind: "tool",
      idempotencyKey,
      isAborted: false,
    });
  });

  test("does not wait for a slow neighbour (C-EFF-03)", async (bench) => {
    const slow = bench.dispatch("deaf", { file: bench.file, ms: 600 });
    const fast = Array.from({ length: 20 }, (_, n) => bench.dispatch("echo", n));
    await Promise.all(fast.map((call) => call.output()));
    assert.deepEqual(slow.outcomes, []);
    assert.equal(await slow.output(), "done");
  });

  test("is a typed failure where there is no such effect, for that call alone", async (bench) => {
    const unknown = bench.dispatch("nothing of that name");
    const known = bench.dispatch("echo", 1);
    const { kind, error } = await unknown.failure();
    assert.ok(kind === "failed" && hasCode(error, "EFFECT_UNKNOWN"), String(error));
    assert.equal(await known.output(), 1);
  });

  test("is preceded by everything the effect emitted, in order", async (bench) => {
    const values = [1, { two: 2n }, undefined, new Date(4)];
    const call = bench.dispatch("emits", { values });
    await call.output();
    assert.deepEqual(call.heard, ["progress", "progress", "progress", "progress", "completed"]);
    assert.deepEqual(call.emitted, values);
  });
}
