// What an executor may do to a partition: answer late, out of order, twice, or never (T2). The inline one is better behaved
// than that; a pool of threads, or one across a network, is not.

import { describe, expect, test } from "vitest";
import { FlowRegistry } from "../../src/actors/flow-registry.js";
import { Observer } from "../../src/actors/observer.js";
import { Partition } from "../../src/actors/partition.js";
import { StateReader } from "../../src/actors/state-reader.js";
import type { EffectExecutor, Invocation, Outcome } from "../../src/effects/index.js";
import {
  failureToWire,
  MemoryEventStore,
  MemorySnapshotStore,
  type RegisteredFlow,
  VALUE_LIMITS,
} from "../../src/kernel/index.js";
import { SimClock } from "../support/sim-clock.js";
import { flow, World } from "../support/world.js";

interface Dispatched {
  readonly invocation: Invocation;
  readonly settle: (outcome: Outcome) => void;
}

const completed = (output: string): Outcome => ({ kind: "completed", output });
const failed = (message: string): Outcome => ({
  kind: "failed",
  error: failureToWire(new Error(message)),
  retryable: true,
});

async function partitionWith(f: RegisteredFlow) {
  const clock = new SimClock();
  const lifetime = clock.lifetime();
  const store = new MemoryEventStore();
  const dispatched: Dispatched[] = [];
  const executor: EffectExecutor = {
    dispatch: (invocation, settle) => void dispatched.push({ invocation, settle }),
  };
  const registry = new FlowRegistry();
  registry.register(f.definition, f.runner);
  const partition = new Partition({
    log: await store.open(0),
    clock: lifetime,
    entropy: { random: () => 0.5, uuid: () => "u" },
    limits: VALUE_LIMITS,
    executor,
    registry,
    observer: new Observer({}),
    states: new StateReader(new MemorySnapshotStore(), undefined),
    maxResident: 10,
  });
  await partition.recover();
  await new Promise<void>((resolve, reject) =>
    partition.start({
      executionId: "x",
      fresh: false,
      flow: f,
      input: undefined,
      reply: { resolve, reject },
    }),
  );
  const types = async () => (await store.read("x")).map(({ type }) => type);
  const settled = async () => {
    for (let calm = 0; calm < 3; calm++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (clock.pendingSoon > 0) calm = 0;
    }
  };
  return { clock, dispatched, partition, settled, types, state: () => partition.state("x") };
}

function flaky(): RegisteredFlow {
  const step = World.memory().step("s", () => {}, { retry: { maxAttempts: 3, baseDelayMs: 10 } });
  return flow("f", async (ctx) => [await ctx.run(step, 1), await ctx.suspend({ on: "gate" })]);
}

describe("T2: an attempt's outcome counts once", () => {
  test("answered twice, the first answer stands", async () => {
    const { dispatched, settled, types, state } = await partitionWith(flaky());
    dispatched[0]!.settle(completed("first"));
    dispatched[0]!.settle(completed("second"));
    await settled();
    dispatched[0]!.settle(completed("third"));
    dispatched[0]!.settle(failed("fourth"));
    await settled();
    expect(await types()).toEqual([
      "EXECUTION_STARTED",
      "STEP_STARTED",
      "STEP_COMPLETED",
      "EXECUTION_SUSPENDED",
    ]);
    expect((await state()).frames["s"]?.output).toBe("first");
  });

  test("answered after the next attempt was dispatched, it does not count for that one", async () => {
    const { clock, dispatched, settled, types, state } = await partitionWith(flaky());
    dispatched[0]!.settle(failed("attempt 1"));
    await settled();
    dispatched[0]!.settle(completed("late, while it waits for the retry"));
    await settled();
    while (clock.step()) await settled();
    expect(dispatched.map(({ invocation }) => invocation.attempt)).toEqual([1, 2]);
    dispatched[0]!.settle(completed("late, while the second is at work"));
    await settled();
    expect((await state()).frames["s"]?.status).toBe("started");
    dispatched[1]!.settle(completed("attempt 2"));
    await settled();
    expect((await state()).frames["s"]).toMatchObject({
      status: "completed",
      output: "attempt 2",
      attempts: 2,
    });
    expect((await types()).filter((type) => type.startsWith("STEP_"))).toEqual([
      "STEP_STARTED",
      "STEP_RETRIED",
      "STEP_COMPLETED",
    ]);
  });

  test("what an attempt emits after its end is void, also when the next is at work", async () => {
    const { clock, dispatched, settled, types } = await partitionWith(flaky());
    dispatched[0]!.invocation.emit("from 1", 1);
    await settled();
    dispatched[0]!.settle(failed("attempt 1"));
    await settled();
    while (clock.step()) await settled();
    dispatched[0]!.invocation.emit("late from 1", 1);
    dispatched[1]!.invocation.emit("from 2", 1);
    await settled();
    expect((await types()).filter((type) => type.includes("from"))).toEqual(["from 1", "from 2"]);
  });

  test("never answered, it is aborted by a cancel, and closing waits for it only until the deadline", async () => {
    const { clock, dispatched, partition, settled, types } = await partitionWith(flaky());
    const { signal } = dispatched[0]!.invocation;
    await new Promise<void>((resolve, reject) =>
      partition.send("x", { kind: "cancel", reason: "enough", force: false, reply: { resolve, reject } }),
    );
    expect(signal.aborted).toBe(true);
    dispatched[0]!.settle(completed("late"));
    await settled();
    expect((await types()).slice(-2)).toEqual(["EXECUTION_CANCELLED", "OUTCOME_LATE"]);
    const closed = partition.close(1_000);
    await settled();
    while (clock.step()) await settled();
    await closed;
  });

  test("an abort that came before anybody asked for the signal is seen by whoever asks later", async () => {
    const { dispatched, partition } = await partitionWith(flaky());
    await new Promise<void>((resolve, reject) =>
      partition.send("x", { kind: "cancel", reason: "enough", force: false, reply: { resolve, reject } }),
    );
    const { signal } = dispatched[0]!.invocation;
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ code: "CANCELLED" });
  });
});
