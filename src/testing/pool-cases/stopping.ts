// Cases: an attempt that is called off, and one that has had its time. Both reach the effect; what it does all the same is told as
// late, once, or is the outcome.

import assert from "node:assert/strict";
import { HeddleError, hasCode } from "../../kernel/index.js";
import { eventually } from "./attempt.js";
import type { PoolTest } from "./bench.js";

const cancelled = () => new HeddleError("CANCELLED", "not wanted");

export function stoppingTests(test: PoolTest): void {
  test("an abort reaches the effect with its reason, and the call is aborted", async (bench) => {
    const call = bench.dispatch("obeys", { file: bench.file });
    await eventually(() => bench.marks.includes("begun"), "the effect begins");
    call.abort(cancelled());
    assert.equal((await call.outcome()).kind, "aborted");
    await eventually(() => bench.marks.includes("aborted CANCELLED"), "the effect hears of it");
    await bench.dispatch("waits", { ms: 20 }).output();
    assert.deepEqual(call.late, [], "it did as it was told");
  });

  test("what is aborted already does not begin", async (bench) => {
    const call = bench.prepare("deaf", { file: bench.file, ms: 0 });
    call.abort(cancelled());
    assert.equal((await call.dispatchTo(bench.executor).outcome()).kind, "aborted");
    await bench.dispatch("waits", { ms: 20 }).output();
    assert.deepEqual(bench.marks, []);
  });

  test("what an effect did that ignored its abort is told, as its outcome or late", async (bench) => {
    const call = bench.dispatch("deaf", { file: bench.file, ms: 50 });
    await eventually(() => bench.marks.includes("begun"), "the effect begins");
    call.abort(cancelled());
    const kind = (await call.outcome()).kind;
    if (kind === "completed") return;
    assert.equal(kind, "aborted");
    await eventually(() => call.late.length > 0, "it is late");
    assert.deepEqual(call.late, [{ kind: "completed" }]);
  });

  test("an abort of one call leaves its neighbours alone", async (bench) => {
    const neighbour = bench.dispatch("waits", { ms: 50, value: "unharmed" });
    const call = bench.dispatch("obeys", { file: bench.file });
    await eventually(() => bench.marks.includes("begun"), "the effect begins");
    call.abort(cancelled());
    assert.equal((await call.outcome()).kind, "aborted");
    assert.equal(await neighbour.output(), "unharmed");
  });

  test("a time limit aborts the effect and fails the call, typed; it may be tried again", async (bench) => {
    const failure = await bench.dispatch("obeys", { file: bench.file }, { timeoutMs: 30 }).failure();
    assert.ok(hasCode(failure.error, "EFFECT_TIMED_OUT"), String(failure.error));
    assert.ok(failure.kind === "failed" && failure.retryable);
    await eventually(() => bench.marks.includes("aborted EFFECT_TIMED_OUT"), "the effect hears of it");
  });

  test("what comes after a time limit is late, once", async (bench) => {
    const call = bench.dispatch("deaf", { file: bench.file, ms: 100 }, { timeoutMs: 20 });
    assert.ok(hasCode((await call.failure()).error, "EFFECT_TIMED_OUT"));
    await eventually(() => call.late.length > 0, "it is late");
    assert.deepEqual(call.late, [{ kind: "completed" }]);
  });

  test("a time limit puts in doubt what may not be repeated", async (bench) => {
    const options = { timeoutMs: 20, idempotent: false };
    const { kind, error } = await bench.dispatch("deaf", { file: bench.file, ms: 60 }, options).failure();
    assert.equal(kind, "inDoubt");
    assert.ok(hasCode(error, "EFFECT_TIMED_OUT"));
  });

  test("a time limit that is kept changes nothing", async (bench) => {
    assert.equal(await bench.dispatch("echo", "in time", { timeoutMs: 10_000 }).output(), "in time");
  });
}
