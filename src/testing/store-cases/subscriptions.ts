import assert from "node:assert/strict";
import type { EventEnvelope } from "../../kernel/events.js";
import type { EventStore } from "../../kernel/store/spi.js";
import { ScriptedExecution } from "../scripted-execution.js";
import type { Test } from "./bench.js";

const position = ({ sequence }: EventEnvelope): number => sequence;
const upTo = (end: number, from = 0): number[] =>
  Array.from({ length: end - from }, (_, index) => from + index);

export function subscriptionTests(test: Test): void {
  test("tells of what becomes durable from now on, before commit resolves", async ({ store, commit }) => {
    const execution = new ScriptedExecution(0);
    await commit(execution.start());
    const seen: EventEnvelope[] = [];
    const end = store.subscribe(execution.id, (event) => void seen.push(event));
    await commit(execution.advance(2), new ScriptedExecution(1).start());
    assert.deepEqual(seen, await store.read(execution.id, { from: 1 }));
    end();
    await commit(execution.advance(1));
    assert.equal(seen.length, 2);
  });

  test("tells of events of an execution that has not started", async ({ store, commit }) => {
    const execution = new ScriptedExecution(0);
    const [seen, fromStart]: [number[], number[]] = [[], []];
    store.subscribe(execution.id, (event) => void seen.push(position(event)));
    const caughtUp = reached(store, execution.id, 0, 3, fromStart);
    await commit(execution.start());
    await commit(execution.advance(2));
    await caughtUp;
    assert.deepEqual(seen, upTo(3));
    assert.deepEqual(fromStart, upTo(3));
  });

  test("catches up from a sequence while commits go on, each event once and in order", async ({
    store,
    commit,
  }) => {
    const execution = new ScriptedExecution(0);
    await commit(execution.start());
    for (let pass = 0; pass < 300; pass++) await commit(execution.advance(1));
    const target = 701;
    const logs = [0, 1, 150, 290, 301, 500].map((from) => ({ from, seen: [] as number[] }));
    const all = logs.map(({ from, seen }) => reached(store, execution.id, from, target, seen));
    for (let pass = 0; pass < 400; pass++) await commit(execution.advance(1));
    await Promise.all(all);
    for (const { from, seen } of logs) assert.deepEqual(seen, upTo(target, from));
  });

  test("catches up from the middle of a record", async ({ store, commit }) => {
    const execution = new ScriptedExecution(0);
    await commit(execution.start());
    await commit(execution.advance(4));
    const seen: number[] = [];
    const caughtUp = reached(store, execution.id, 3, 7, seen);
    await commit(execution.advance(2));
    await caughtUp;
    assert.deepEqual(seen, upTo(7, 3));
  });
}

export function listenerTests(test: Test): void {
  test("ends a subscription that is ended in the middle of a record", async ({ store, commit }) => {
    const execution = new ScriptedExecution(0);
    const seen: number[] = [];
    const end = store.subscribe(execution.id, (event) => {
      seen.push(event.sequence);
      if (event.sequence === 2) end();
    });
    await commit(execution.start());
    await commit(execution.advance(5));
    assert.deepEqual(seen, [0, 1, 2]);
  });

  test("contains a listener that throws or rejects, and reports it", async ({
    store,
    commit,
    listenerErrors,
  }) => {
    const execution = new ScriptedExecution(0);
    const seen: number[] = [];
    const [thrown, rejected] = [new Error("thrown"), new Error("rejected")];
    store.subscribe(execution.id, () => {
      throw thrown;
    });
    const rejecting: (event: EventEnvelope) => unknown = () => Promise.reject(rejected);
    store.subscribe(execution.id, rejecting);
    store.subscribe(execution.id, (event) => void seen.push(position(event)));
    await commit(execution.start());
    await commit(execution.advance(1));
    assert.deepEqual(seen, [0, 1]);
    assert.equal(listenerErrors.filter((error) => error === thrown).length, 2);
    assert.equal(listenerErrors.filter((error) => error === rejected).length, 2);
  });
}

/** Subscribes and resolves when `count` events are known, counted from the log's beginning. */
function reached(store: EventStore, id: string, from: number, count: number, seen: number[]): Promise<void> {
  return new Promise((resolve) => {
    store.subscribe(
      id,
      ({ sequence }) => {
        seen.push(sequence);
        if (sequence === count - 1) resolve();
      },
      { from },
    );
  });
}
