import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Admission, type AdmissionOptions } from "../../src/actors/admission.js";
import { FlowRegistry } from "../../src/actors/flow-registry.js";
import { Observer } from "../../src/actors/observer.js";
import { Partition } from "../../src/actors/partition.js";
import { StateReader } from "../../src/actors/state-reader.js";
import { systemClock, systemEntropy } from "../../src/app/clock.js";
import { defineConfig } from "../../src/app/define-config.js";
import type { EffectExecutor, Invocation, Outcome } from "../../src/effects/index.js";
import {
  defineFlow,
  type ExecutionState,
  flow$,
  MemoryEventStore,
  MemorySnapshotStore,
  OverloadedError,
  type RegisteredFlow,
  step$,
  toWire,
  VALUE_LIMITS,
} from "../../src/kernel/index.js";

const anything = z.unknown();
const work = step$({ id: "work", inputSchema: anything, outputSchema: anything });

const working = defineFlow(
  flow$({ id: "working", version: "1", inputSchema: anything, outputSchema: anything, steps: [work] }),
  (ctx, input) => ctx.run(work, input),
);

/** Works, waits at a gate, and works once more. */
const asking = defineFlow(
  flow$({ id: "asking", version: "1", inputSchema: anything, outputSchema: anything }),
  async (ctx, input) => {
    await ctx.run(work, input);
    await ctx.suspend({ on: "Go" });
    return ctx.execute({ ...work, id: "again" }, input);
  },
);

/** Effects that end when the test says so. */
class HeldExecutor implements EffectExecutor {
  readonly held = new Map<string, (outcome: Outcome) => void>();
  most = 0;

  dispatch({ executionId, input }: Invocation, settle: (outcome: Outcome) => void): void {
    this.held.set(executionId, () => settle({ kind: "completed", output: input }));
    this.most = Math.max(this.most, this.held.size);
  }

  end(executionId: string): void {
    const settle = this.held.get(executionId);
    if (!settle) throw new Error(`${executionId} has no effect under way`);
    this.held.delete(executionId);
    settle({ kind: "completed", output: undefined });
  }
}

const store = () => new MemoryEventStore({ partitions: 1 });

async function open(options: AdmissionOptions, events = store()) {
  const executor = new HeldExecutor();
  const admission = new Admission(options);
  const registry = new FlowRegistry();
  for (const { definition, runner } of [working, asking]) registry.register(definition, runner);
  const partition = new Partition({
    log: await events.open(0),
    clock: systemClock(),
    entropy: systemEntropy,
    limits: VALUE_LIMITS,
    executor,
    registry,
    observer: new Observer({}),
    states: new StateReader(new MemorySnapshotStore(), undefined),
    maxResident: 100,
    admission,
  });
  await partition.recover();
  const start = (executionId: string, flow = working, input: unknown = executionId): Promise<void> =>
    new Promise((resolve, reject) =>
      partition.start({
        executionId,
        fresh: false,
        flow,
        input: toWire(input),
        reply: { resolve, reject },
      }),
    );
  const resume = (executionId: string): Promise<void> =>
    new Promise((resolve, reject) =>
      partition.send(executionId, {
        kind: "resume",
        request: { eventType: "Go" },
        reply: { resolve, reject },
      }),
    );
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await nextTurn();
  };
  return { executor, admission, partition, start, resume, until };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `x${n}`);

describe("a bound on executions at work", () => {
  it("C-EFF-03: keeps starts waiting, lets them in as others end, in the order they came", async () => {
    const { executor, admission, partition, start, until } = await open({ maxInFlight: 3 });
    const order: string[] = [];
    const started = names(10).map((id) => start(id).then(() => order.push(id)));
    await until(() => executor.held.size === 3);
    expect(admission).toMatchObject({ inFlight: 3, waiting: 7 });
    expect(order).toEqual(names(3));
    for (const id of names(10)) {
      await until(() => executor.held.has(id));
      executor.end(id);
    }
    await Promise.all(started);
    for (const id of names(10)) await partition.watch(id, "ended");
    expect(order).toEqual(names(10));
    expect(executor.most).toBe(3);
    expect(admission).toMatchObject({ inFlight: 0, waiting: 0, waitingBytes: 0 });
    await partition.close(0);
  });

  it('refuses a start with OVERLOADED when it is told to "reject", and takes it when there is room', async () => {
    const { executor, partition, start, until } = await open({ maxInFlight: 1, admission: "reject" });
    await start("a");
    await until(() => executor.held.has("a"));
    const refusal = await start("b").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OverloadedError);
    expect(refusal).toMatchObject({ code: "OVERLOADED", retryable: true, limit: 1 });
    await start("a"); // one that is there is attached to, whatever the load
    executor.end("a");
    await partition.watch("a", "ended");
    await start("b");
    await until(() => executor.held.has("b"));
    await partition.close(0);
  });

  it("refuses starts that would wait with more bytes than may wait", async () => {
    const { admission, partition, start } = await open({ maxInFlight: 1, maxWaitingBytes: 5_000 });
    await start("a");
    const waiting = start("b", working, "x".repeat(4_000)).catch((error: unknown) => error);
    await expect(start("c", working, "x".repeat(4_000))).rejects.toMatchObject({ code: "OVERLOADED" });
    expect(admission.waiting).toBe(1);
    await partition.close(0);
    expect(await waiting).toMatchObject({ code: "RUNTIME_CLOSED" }); // not left waiting for ever
    expect(admission.waitingBytes).toBe(0);
  });

  it("C-CHD-01: what is parked holds no slot, and what goes on needs none", async () => {
    const { executor, admission, partition, start, resume, until } = await open({ maxInFlight: 1 });
    await start("parked", asking);
    await until(() => executor.held.has("parked"));
    executor.end("parked");
    await partition.watch("parked", "suspended");
    expect(admission.inFlight).toBe(0);
    await start("busy");
    await until(() => executor.held.has("busy"));
    await resume("parked"); // there is no room for a start now
    await until(() => executor.held.has("parked"));
    executor.end("parked");
    const ended: ExecutionState = await partition.watch("parked", "ended");
    expect(ended.status).toBe("completed");
    executor.end("busy");
    await partition.watch("busy", "ended");
    expect(admission.inFlight).toBe(0);
    await partition.close(0);
  });

  it("C-EFF-03: leaves in the log what is to be recovered, until there is room", async () => {
    const events = store();
    const before = await open({}, events);
    for (const id of names(20)) await before.start(id);
    await before.partition.close(0);
    const { executor, admission, partition, until } = await open({ maxInFlight: 4 }, events);
    for (const id of names(20)) {
      await until(() => executor.held.has(id));
      expect(admission.inFlight).toBeLessThanOrEqual(4);
      executor.end(id);
    }
    for (const id of names(20)) expect((await partition.watch(id, "ended")).status).toBe("completed");
    expect(executor.most).toBeLessThanOrEqual(4);
    await partition.close(0);
  });

  it("C-CHD-01: an execution whose handler waits for another holds no slot, ten levels deep", async () => {
    const level = step$({ id: "level", inputSchema: z.number(), outputSchema: z.number() });
    const nested: RegisteredFlow<number, number> = defineFlow(
      flow$({ id: "nested", version: "1", inputSchema: z.number(), outputSchema: z.number() }),
      (ctx, depth) =>
        ctx.execute(
          {
            ...level,
            handler: async (below: number) => {
              if (below === 0) return 0;
              const child = await app.runtime.start(nested, below - 1);
              return (await child.result()) + 1;
            },
          },
          depth,
        ),
    );
    const app = defineConfig({
      storage: { kind: "memory" },
      flows: [nested],
      execution: { maxInFlight: 1 },
    });
    const handles = await Promise.all([1, 2, 3].map(() => app.runtime.start(nested, 10)));
    expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual([10, 10, 10]);
    expect((await app.workers.stats()).host).toMatchObject({ executionsAtWork: 0, startsWaiting: 0 });
    await app.close();
  });

  it("C-CHD-01: a handler that starts many lends one slot, and has it back when it is done", async () => {
    let atWork = 0;
    let most = 0;
    const leaf = step$({ id: "leaf", inputSchema: z.number(), outputSchema: z.number() });
    const busy = defineFlow(
      flow$({ id: "busy", version: "1", inputSchema: z.number(), outputSchema: z.number() }),
      (ctx, n) =>
        ctx.execute(
          {
            ...leaf,
            handler: async (value: number) => {
              atWork++;
              most = Math.max(most, atWork);
              await nextTurn();
              atWork--;
              return value;
            },
          },
          n,
        ),
    );
    const fan = defineFlow(
      flow$({ id: "fan", version: "1", inputSchema: z.number(), outputSchema: z.number() }),
      async (ctx, count) => {
        const handler = async (children: number): Promise<number> => {
          const names = Array.from({ length: children }, (_, n) => n);
          const handles = await Promise.all(names.map((n) => app.runtime.start(busy, n)));
          await Promise.all(handles.map((handle) => handle.waitForCompletion()));
          return children;
        };
        await ctx.execute({ ...leaf, handler }, count);
        return ctx.execute({ ...leaf, id: "after", handler: async (value: number) => value }, count);
      },
    );
    const app = defineConfig({
      storage: { kind: "memory" },
      flows: [busy, fan],
      execution: { maxInFlight: 2 },
    });
    const handles = await Promise.all([app.runtime.start(fan, 30), app.runtime.start(fan, 30)]);
    expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual([30, 30]);
    expect(most).toBe(2);
    expect((await app.workers.stats()).host?.executionsAtWork).toBe(0);
    await app.close();
  });
});
