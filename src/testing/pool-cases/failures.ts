// Cases: what an effect fails with arrives as the flow, and the policy that may try it again, have to know it.

import assert from "node:assert/strict";
import { type HeddleError, hasCode } from "../../kernel/index.js";
import type { Attempt } from "./attempt.js";
import type { Bench, PoolTest } from "./bench.js";

export function failureTests(test: PoolTest): void {
  const failed = (bench: Bench, how: string): Attempt => bench.dispatch("fails", { how });

  test("keep their class, properties, cause and when to try again", async (bench) => {
    const failure = await failed(bench, "ownClass").failure();
    const { error } = failure;
    assert.ok(error instanceof RangeError, "the nearest class everybody knows");
    const { name, message, status, cause } = error as RangeError & { readonly status?: unknown };
    assert.deepEqual(
      { name, message, status },
      { name: "TooManyRequests", message: "slow down", status: 429 },
    );
    assert.ok(cause instanceof TypeError && cause.message === "upstream");
    assert.match(error.stack ?? "", /effects/);
    assert.ok(failure.kind === "failed" && failure.retryable);
    assert.equal(failure.retryAfterMs, 3_000);
  });

  test("keep their code and details, and whether trying again can help", async (bench) => {
    const failure = await failed(bench, "coded").failure();
    const { error } = failure;
    assert.ok(hasCode(error, "INPUT_INVALID"), String(error));
    assert.deepEqual((error as HeddleError).details, { field: "amount" });
    assert.ok(failure.kind === "failed" && !failure.retryable);
  });

  test("are whatever was thrown, at once or later", async (bench) => {
    assert.equal((await failed(bench, "text").failure()).error, "just text");
    const { error } = await failed(bench, "later").failure();
    assert.ok(error instanceof TypeError && error.message === "later");
  });

  test("on a declared channel are that, with their payload", async (bench) => {
    const failure = await failed(bench, "declared").failure();
    assert.ok(failure.kind === "failedOnChannel");
    assert.deepEqual([failure.channel, failure.payload], ["soldOut", { left: 0 }]);
  });

  test("on a channel nobody declared, or with a payload it does not take, are plain ones", async (bench) => {
    for (const how of ["undeclared", "badPayload"]) {
      const { kind, error } = await failed(bench, how).failure();
      assert.ok(kind === "failed" && hasCode(error, "CHANNEL_REFUSED"), how);
    }
  });
}
