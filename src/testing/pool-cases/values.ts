// Cases: what goes in is what the effect gets, what it gives is what is recorded, and neither is anybody's but theirs.

import assert from "node:assert/strict";
import { hasCode } from "../../kernel/index.js";
import type { PoolTest } from "./bench.js";

function everything(): unknown {
  const shared = { n: 1 };
  const ring: { self?: unknown } = {};
  ring.self = ring;
  return {
    missing: undefined,
    numbers: [Number.NaN, -0, Infinity, 2n ** 70n],
    at: new Date(1_700_000_000_000),
    map: new Map<unknown, unknown>([[{ key: 1 }, new Set([1, "a"])]]),
    pattern: /ab+c/giu,
    bytes: Buffer.from("bytes"),
    floats: new Float64Array([0.5, -1]),
    twice: [shared, shared],
    ring,
    text: "größer \u{1f600}",
  };
}

export function valueTests(test: PoolTest): void {
  test("come back as they went in", async (bench) => {
    assert.deepEqual(await bench.dispatch("echo", everything()).output(), everything());
  });

  test("that an effect spoils are whole for the next attempt", async (bench) => {
    const input = { list: ["kept"], bytes: new Uint8Array([1, 2, 3]) };
    const first = bench.prepare("spoils", input);
    assert.deepEqual(await first.dispatchTo(bench.executor).output(), ["kept"]);
    assert.deepEqual(await bench.dispatch("spoils", input).output(), ["kept"]);
    assert.deepEqual(input, { list: ["kept"], bytes: new Uint8Array([1, 2, 3]) });
  });

  test("that an effect changes when it has returned them are recorded as they were", async (bench) => {
    const call = bench.dispatch("keeps");
    await call.outcome();
    await bench.dispatch("waits", { ms: 20 }).output();
    assert.deepEqual(await call.output(), { list: [1] });
  });

  test("that cannot be recorded fail that call alone, typed, with the path", async (bench) => {
    const [before, bad, after] = [
      bench.dispatch("echo", "before"),
      bench.dispatch("unrecordable"),
      bench.dispatch("echo", "after"),
    ];
    const { error, ...outcome } = await bad.failure();
    assert.ok(hasCode(error, "VALUE_NOT_RECORDABLE"), String(error));
    assert.match(String(error), /rows\[1\]\.cb/);
    assert.ok(outcome.kind === "failed" && !outcome.retryable, "trying again cannot help");
    assert.deepEqual([await before.output(), await after.output()], ["before", "after"]);
  });
}

/** What is made of a recorded input in the actor's thread (`expand`), or by middleware, is not cut off from the program yet. */
export function borderTests(test: PoolTest): void {
  test("stay whole in the program, whatever the effect does, and its buffers attached", async (bench) => {
    const mine = { list: ["mine"], bytes: new Uint8Array([1, 2, 3]) };
    assert.deepEqual(await bench.dispatch("spoils", null, { expand: () => mine }).output(), ["mine"]);
    assert.deepEqual(mine, { list: ["mine"], bytes: new Uint8Array([1, 2, 3]) });
    assert.equal(mine.bytes.buffer.byteLength, 3);
  });

  test("that hold a function are refused, for that call alone, typed, with the path", async (bench) => {
    const expand = () => ({ deep: { cb() {} } });
    const bad = bench.dispatch("echo", null, { expand });
    const good = bench.dispatch("echo", "good");
    const { kind, error } = await bad.failure();
    assert.ok(kind === "failed" && hasCode(error, "VALUE_NOT_RECORDABLE"), String(error));
    assert.match(String(error), /deep\.cb/);
    assert.equal(await good.output(), "good");
  });
}
