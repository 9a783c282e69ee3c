import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ExecutionEvent,
  fold,
  initialState,
  type LogRecord,
  MemorySnapshotStore,
  revealState,
  toWire,
} from "../../src/kernel/index.js";
import { anyEvent, SAMPLES } from "../support/events.js";
import { SCENARIOS } from "../support/scenarios.js";
import { World } from "../support/world.js";

const record = (
  sequence: number,
  events: readonly ExecutionEvent[],
  timestamp = 1_000 + sequence,
): LogRecord => ({ sequence, timestamp, events });

/** One event a record: the finest split there is, with times that do not depend on the split. */
function singly(events: readonly ExecutionEvent[]): LogRecord[] {
  return events.map((event, sequence) => record(sequence, [event], 7));
}

function split(events: readonly ExecutionEvent[], sizes: readonly number[]): LogRecord[] {
  const records: LogRecord[] = [];
  let sequence = 0;
  for (let i = 0; sequence < events.length; i++) {
    const part = events.slice(sequence, sequence + (sizes[i % sizes.length] ?? 1));
    records.push(record(sequence, part, 7));
    sequence += part.length;
  }
  return records;
}

describe("fold", () => {
  test("any split of a log into records folds to the same", () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        (events, sizes) => {
          expect(fold(split(events, sizes))).toEqual(fold(singly(events)));
        },
      ),
    );
  });

  test("folding on from any point is folding from the start, also through a stored snapshot", async () => {
    const store = new MemorySnapshotStore();
    await fc.assert(
      fc.asyncProperty(fc.array(anyEvent, { minLength: 1, maxLength: 30 }), fc.nat(), async (events, cut) => {
        const at = cut % events.length;
        const records = singly(events);
        const early = fold(records.slice(0, at));
        await store.save({ executionId: "x", sequence: early.sequence, state: early });
        const stored = (await store.load("x"))?.state as typeof early;
        // Read as programs read it: bytes come back from a store as another kind of byte array than they went in.
        expect(revealState("x", fold(records.slice(at), stored))).toEqual(revealState("x", fold(records)));
      }),
    );
  });

  test("`upTo` folds what a reader at that point would have seen", () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
        fc.nat({ max: 25 }),
        (events, sizes, upTo) => {
          const seen = fold(singly(events.slice(0, upTo + 1)));
          expect(fold(split(events, sizes), initialState(), upTo)).toEqual(seen);
          expect(seen.sequence).toBe(Math.min(upTo, events.length - 1));
        },
      ),
    );
  });

  test("counts of open steps and gates never go wrong, whatever the log says", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
        const state = fold(singly(events));
        expect(state.openSteps).toBeGreaterThanOrEqual(
          Object.values(state.frames).filter(({ status }) => status === "started").length,
        );
        expect(state.openGates).toBeGreaterThanOrEqual(
          Object.values(state.gates).filter(({ status }) => status === "open").length,
        );
      }),
    );
  });

  test("an execution with a gate open and no step in flight is suspended, and only such a one", () => {
    const started: ExecutionEvent = {
      type: "EXECUTION_STARTED",
      flowId: "f",
      flowVersion: "1",
      input: undefined,
      flags: [],
      principal: undefined,
    };
    const gate = (gateId: string): ExecutionEvent => ({
      type: "EXECUTION_SUSPENDED",
      gateId,
      kind: "event",
      on: "g",
      wakeAt: undefined,
      correlationKey: undefined,
    });
    const step: ExecutionEvent = {
      type: "STEP_STARTED",
      stepId: "s",
      input: undefined,
      kind: "step",
      toolId: undefined,
    };
    const log: [ExecutionEvent, string][] = [
      [started, "running"],
      [step, "running"],
      [gate("g#0"), "running"],
      [
        { type: "STEP_RETRIED", stepId: "s", attempt: 2, reason: "failed", dueAt: 1, error: undefined },
        "running",
      ],
      [{ type: "STEP_COMPLETED", stepId: "s", output: 1 }, "suspended"],
      [gate("g#1"), "suspended"],
      [{ type: "GATE_EVENT", name: "g", gateId: "g#0", payload: 1 }, "suspended"],
      [{ type: "EXECUTION_RESUMED", gateId: "g#0", reason: "event", requestId: "r" }, "suspended"],
      [{ type: "GATE_TIMED_OUT", gateId: "g#1", on: "g" }, "running"],
      [{ type: "EXECUTION_CANCELLED", reason: "enough", error: undefined }, "cancelled"],
    ];
    const statuses = log.map(
      (_, index) => fold(singly(log.map(([event]) => event)), initialState(), index).status,
    );
    expect(statuses).toEqual(log.map(([, status]) => status));
  });

  test("a step issued again after a failure starts its frame anew", () => {
    const issue: ExecutionEvent = {
      type: "STEP_STARTED",
      stepId: "s",
      input: 1,
      kind: "step",
      toolId: undefined,
    };
    const failed: ExecutionEvent = {
      type: "STEP_FAILED",
      stepId: "s",
      error: toWire("no"),
      channel: undefined,
      payload: undefined,
    };
    const frame = (events: ExecutionEvent[]) => fold(singly(events)).frames["s"];
    expect(frame([issue, failed])).toMatchObject({ status: "failed", error: "no", attempts: 1 });
    expect(frame([issue, failed, issue])).toMatchObject({
      status: "started",
      error: undefined,
      endedAt: undefined,
    });
    expect(fold(singly([issue, failed, issue])).openSteps).toBe(1);
  });

  test("one sample of every kind folds to a state one can read", () => {
    expect(revealState("x", fold(singly(SAMPLES)))).toMatchSnapshot();
  });
});

describe("revealState", () => {
  test("C-EFF-04: a state is a fresh copy: changing it changes nothing", () => {
    const state = fold(singly(SAMPLES));
    const first = revealState("x", state);
    (first.input as { n: number }).n = 2;
    (first.frames["s"] as { status: string }).status = "changed";
    const second = revealState("x", state);
    expect(second.input).toEqual({ n: 1 });
    expect(second.frames["s"]?.status).toBe("completed");
  });
});

describe("fold of the log equals the live state", () => {
  test.each(SCENARIOS)("at every commit: $name", async ({ make, answers }) => {
    const world = World.memory();
    const flow = make(world);
    const process = await world.open([flow]);
    const seen: unknown[] = [];
    const folded: unknown[] = [];
    process.store.onCommit = ({ executions }) => {
      for (const { header } of executions) seen.push({ status: header.status, sequence: header.sequence });
    };
    await process.start(flow, null);
    await process.finish("x", answers);
    await process.kill();
    const records = await world.records();
    for (const { sequence, events } of records) {
      const state = fold(records, initialState(), sequence + events.length - 1);
      folded.push({ status: state.status, sequence: state.sequence });
    }
    // A commit without events (a timer that came too late) says nothing new of the state.
    const distinct = seen.filter((entry, index) => JSON.stringify(entry) !== JSON.stringify(seen[index - 1]));
    expect(distinct).toEqual(folded);
  });
});
