import assert from "node:assert/strict";
import { toWire } from "../../kernel/codec/index.js";
import { domainEvent, ScriptedExecution } from "../scripted-execution.js";
import type { Test } from "./bench.js";

export function readingTests(test: Test): void {
  test("gives back every event once, densely numbered from zero", async ({ store, commit }) => {
    const execution = new ScriptedExecution(0);
    await commit(execution.start({ order: 17 }));
    await commit(execution.advance(3));
    await commit(execution.advance(1));
    await commit(execution.complete("done"));
    const events = await store.read(execution.id);
    assert.deepEqual(
      events.map(({ sequence, type }) => [sequence, type]),
      [
        [0, "EXECUTION_STARTED"],
        [1, "moved"],
        [2, "moved"],
        [3, "moved"],
        [4, "moved"],
        [5, "EXECUTION_COMPLETED"],
      ],
    );
    assert.deepEqual(events[0]?.payload, {
      flowId: "flow",
      flowVersion: "1",
      input: { order: 17 },
      flags: [],
    });
    assert.equal(events[1]?.timestamp, events[3]?.timestamp);
    assert.equal(events[0]?.executionId, execution.id);
  });

  test("gives back what lies in a range, also one that begins and ends inside records", async ({
    store,
    commit,
  }) => {
    const execution = new ScriptedExecution(0);
    await commit(execution.start());
    for (let pass = 0; pass < 5; pass++) await commit(execution.advance(4));
    const sequences = async (range: { from?: number; to?: number }): Promise<number[]> =>
      (await store.read(execution.id, range)).map(({ sequence }) => sequence);
    assert.deepEqual(await sequences({ from: 3, to: 7 }), [3, 4, 5, 6, 7]);
    assert.deepEqual(await sequences({ to: 1 }), [0, 1]);
    assert.deepEqual(await sequences({ from: 19 }), [19, 20]);
    assert.deepEqual(await sequences({ from: 5, to: 5 }), [5]);
    assert.deepEqual(await sequences({ from: 21 }), []);
    assert.deepEqual(await sequences({ from: 6, to: 5 }), []);
  });

  test("reads a log of many records whole", async ({ store, commit }) => {
    const execution = new ScriptedExecution(0);
    await commit(execution.start());
    for (let pass = 0; pass < 700; pass++) await commit(execution.advance(2));
    const sequences = (await store.read(execution.id)).map(({ sequence }) => sequence);
    assert.deepEqual(
      sequences,
      Array.from({ length: 1401 }, (_, index) => index),
    );
    if (store.readSync) assert.deepEqual(store.readSync(execution.id), await store.read(execution.id));
  });
}

export function contentTests(test: Test): void {
  test("shows events under the names and payloads programs know", async ({ store, commit }) => {
    const execution = new ScriptedExecution(0);
    const patch = {
      type: "SURFACE_PATCH",
      operation: "set",
      key: "total",
      value: toWire(3),
      surface: undefined,
    } as const;
    await commit(
      execution.start(),
      execution.append([
        { type: "STEP_STARTED", stepId: "s", input: toWire([1]), kind: "step", toolId: undefined },
        { type: "GATE_EVENT", name: "approved", gateId: "g", payload: toWire({ by: "ann" }) },
        domainEvent("priced", { cents: 5 }),
        { type: "STREAM_DELTA", name: "token", delta: "he", done: false },
        patch,
      ]),
    );
    assert.deepEqual(
      (await store.read(execution.id, { from: 1 })).map(({ type, payload }) => [type, payload]),
      [
        ["STEP_STARTED", { stepId: "s", input: [1], kind: "step" }],
        ["approved", { by: "ann" }],
        ["priced", { cents: 5 }],
        ["token", { delta: "he", done: false }],
        ["SURFACE_PATCH", { operation: "set", key: "total", value: 3 }],
      ],
    );
  });

  test("keeps values apart from the programs that gave and read them", async ({ store, commit }) => {
    const execution = new ScriptedExecution(0);
    const input = { when: new Date(5), tags: new Set(["a"]), bytes: Buffer.from("x"), big: 2n ** 70n };
    await commit(execution.start(input));
    const read = async (): Promise<{ input: typeof input }> =>
      (await store.read(execution.id))[0]?.payload as { input: typeof input };
    (await read()).input.tags.add("b");
    assert.deepEqual((await read()).input, input);
  });

  test("knows nothing of an id nobody started", async ({ store, log, commit }) => {
    await commit(new ScriptedExecution(0).start());
    assert.deepEqual(await store.read("nobody"), []);
    assert.equal(await store.find("nobody"), undefined);
    assert.deepEqual(await log.lookup(["nobody"]), [undefined]);
    assert.deepEqual(await log.headers([7]), [undefined]);
    assert.deepEqual(await log.load([7]), [[]]);
  });

  test("loads the records of several executions, from a sequence on", async ({ log, commit }) => {
    const first = new ScriptedExecution(0);
    const second = new ScriptedExecution(1);
    await commit(first.start(), second.start());
    await commit(first.advance(3), second.advance(1));
    await commit(first.advance(2));
    const shape = async (keys: number[], from?: number): Promise<unknown> =>
      (await log.load(keys, from)).map((records) =>
        records instanceof Error ? records : records.map(({ sequence, events }) => [sequence, events.length]),
      );
    assert.deepEqual(await shape([1, 0]), [
      [
        [0, 1],
        [1, 1],
      ],
      [
        [0, 1],
        [1, 3],
        [4, 2],
      ],
    ]);
    assert.deepEqual(await shape([0, 1], 3), [
      [
        [1, 3],
        [4, 2],
      ],
      [],
    ]);
    assert.deepEqual(await shape([0], 6), [[]]);
  });
}
