// Orders of events that ought to break something: written from a second reading of the loop, asking of each await what
// could come in between.

import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type ExecutionContext, type ExecutionEvent, HeddleError } from "../../src/kernel/index.js";
import { SCENARIOS } from "../support/scenarios.js";
import { codeOf, flow, type ProcessOptions, unhandledRejections, World } from "../support/world.js";

const SLOW: NonNullable<ProcessOptions["pace"]> = { before: 3, after: 5, read: 2 };

describe("little room in memory", () => {
  test.each([1, 2, 7])(
    "A2: many executions with room for %i write the logs they write with room for all",
    async (maxResident) => {
      const logs = async (room: number) => {
        const world = World.memory();
        const flows = SCENARIOS.map(({ make }) => make(world));
        const process = await world.open(flows, { maxResident: room });
        const ids: string[] = [];
        for (const [index, f] of flows.entries()) {
          for (let copy = 0; copy < 3; copy++) {
            const id = `${f.definition.id}-${copy}`;
            ids.push(id);
            void process.runtime.start(f, null, { executionId: id });
            if ((index + copy) % 4 === 0) await world.settle();
          }
        }
        for (const [index, id] of ids.entries())
          await process.finish(id, SCENARIOS[Math.floor(index / 3)]?.answers ?? {});
        await world.pass(10_000_000);
        expect(await process.store.timers()).toEqual([]);
        return Promise.all(
          ids.map(async (id) =>
            (await world.events(id)).filter(({ type }) => type !== "VALUE_RECORDED" && type !== "drawn"),
          ),
        );
      };
      expect(await logs(maxResident)).toEqual(await logs(10_000));
    },
  );

  test.each([0, 1])("a decider that takes its time is waited for, with room for %i", async (maxResident) => {
    const world = World.memory();
    const f = flow("f", async (ctx) =>
      ctx.decide("d", async () => {
        await world.delay(100);
        return ctx.executionId;
      }),
    );
    const process = await world.open([f], { maxResident });
    const ids = ["a", "b", "c", "d"];
    for (const id of ids) await process.start(f, null, id);
    for (const id of ids) expect((await process.finish(id)).variables["_output"]).toBe(id);
  });
});

describe("an owner that lost the log and does not know it", () => {
  test("I7: takes an execution that has ended elsewhere for no divergence, and goes no further", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => ctx.suspend({ on: "gate" }));
    const process = await world.open([f], { maxResident: 0 });
    await world.until((await process.start(f, null)).waitForSuspend());
    const end: ExecutionEvent = {
      type: "EXECUTION_CANCELLED",
      reason: "elsewhere",
      code: undefined,
      error: undefined,
    };
    process.store.beforeLoad = async (log) => {
      process.store.beforeLoad = undefined;
      const [before] = await log.headers([0]);
      if (!before || before instanceof HeddleError) throw new Error("there is no execution");
      const sequence = before.sequence + 1;
      const header = { ...before, status: "cancelled", sequence } as const;
      const record = { sequence, timestamp: world.clock.now, events: [end] };
      const refile = { from: before.status };
      await log.commit({ executions: [{ header, created: false, refile, record, arm: [], disarm: [] }] });
    };
    const resume = () => world.until(process.runtime.resume("x", { eventType: "gate", payload: 1 }));
    await expect(resume()).rejects.toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining("Partition 0 has another owner") as unknown,
    });
    const [header] = await process.runtime.list();
    expect(header).toMatchObject({ status: "cancelled", aside: undefined });
    expect((await world.events()).at(-1)?.type).toBe("EXECUTION_CANCELLED");
    // Where it was the owner after all, it reads the log anew.
    await world.pass(5_000);
    await expect(resume()).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });
});

describe("while a commit is on its way", () => {
  test("nothing is dispatched, answered or told before it is durable (P2)", async () => {
    const world = World.memory();
    const trail: string[] = [];
    const step = world.step("s", () => void trail.push("effect"));
    const f = flow("f", async (ctx) => {
      await ctx.run(step, 1);
    });
    const process = await world.open([f], {
      pace: { before: 5, after: 5, read: 0 },
      onDurableEvent: ({ type }) => trail.push(type),
    });
    process.store.onCommit = ({ executions }) => trail.push(`commit ${executions[0]?.record?.events.length}`);
    const handle = process.runtime.start(f, null, { executionId: "x" }).then((started) => {
      trail.push("started");
      return started;
    });
    await world.until(handle.then((started) => started.waitForCompletion().then(() => trail.push("ended"))));
    expect(trail).toEqual([
      "commit 2",
      "EXECUTION_STARTED",
      "STEP_STARTED",
      "effect",
      "started",
      "commit 2",
      "STEP_COMPLETED",
      "EXECUTION_COMPLETED",
      "ended",
    ]);
  });

  test("starts, resumes, cancels and watchers of one execution all get an answer", async () => {
    const rejections = unhandledRejections();
    const world = World.memory();
    const f = flow("f", async (ctx) => ctx.suspend({ on: "gate" }));
    const process = await world.open([f], { pace: SLOW });
    const { runtime } = process;
    const answers: Promise<unknown>[] = [];
    const note = (promise: Promise<unknown>): void => void answers.push(promise.then(() => "ok", codeOf));
    let rounds = 0;
    process.store.onCommit = () => {
      if (rounds++ > 6) return;
      note(runtime.start(f, null, { executionId: "x" }));
      note(runtime.start(f, 7, { executionId: "x" }));
      note(runtime.resume("x", { eventType: "gate", payload: rounds, requestId: `r${rounds}` }));
      note(runtime.handle("x").waitForCompletion());
      note(runtime.handle("x").settled());
      if (rounds > 4) note(runtime.cancel("x"));
    };
    note(runtime.start(f, null, { executionId: "x" }));
    expect((await process.finish("x", { gate: 1 })).status).toBe("completed");
    const told = await world.until(Promise.all(answers));
    // ENDED: the cancels that came after the gate was answered.
    expect(new Set(told)).toEqual(
      new Set(["ok", "EXECUTION_CONFLICT", "GATE_ALREADY_RESOLVED", "EXECUTION_ENDED"]),
    );
    expect((await world.types()).filter((type) => type === "gate").length).toBe(1);
    expect(rejections).toEqual([]);
  });

  test("an id whose start is not durable yet is attached to, and a failed commit refuses both", async () => {
    const world = World.memory();
    const f = flow("f", async () => 1);
    const process = await world.open([f], { pace: SLOW, failAt: 1 });
    const starts = [process.runtime.start(f, null, { executionId: "x" })];
    process.store.onCommit = undefined;
    await Promise.race([world.when(() => process.store.commits === 1), starts[0]!.catch(() => {})]);
    starts.push(process.runtime.start(f, null, { executionId: "x" }));
    const told = await world.until(Promise.all(starts.map((start) => start.then(() => "ok", codeOf))));
    expect(told[0]).toBe("STORAGE_FAILED");
    expect(["STORAGE_FAILED", "ok"]).toContain(told[1]);
    const known = await process.runtime.list();
    expect(known.length).toBe(told[1] === "ok" ? 1 : 0);
  });

  test("closing waits for it", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => ctx.suspend({ on: "gate" }));
    const process = await world.open([f], { pace: { before: 50, after: 50, read: 1 } });
    const started = process.runtime.start(f, null, { executionId: "x" });
    await Promise.resolve();
    const closed = process.runtime.close();
    const told = await world.until(Promise.all([started.then(() => "ok", codeOf), closed]));
    expect(told[0] === "ok" ? await world.types() : []).toEqual(
      told[0] === "ok" ? ["EXECUTION_STARTED", "EXECUTION_SUSPENDED"] : await world.types(),
    );
  });
});

describe("while the log is read", () => {
  test("I6: what ends and leaves memory meanwhile is not taken up again from what was read before", async () => {
    for (const before of [1, 2, 3, 4, 5, 6]) {
      for (const read of [0, 1, 2, 3]) {
        const fork = World.memory();
        const g = flow(
          "f",
          async (ctx) =>
            ctx.run(
              fork.step("s", () => new Promise(() => {})),
              1,
            ),
          {
            deadlineMs: 10,
          },
        );
        await (await fork.open([g])).start(g, null);
        await fork.process!.kill();
        fork.clock.jump(50);
        const process = await fork.open([g], { maxResident: 0, pace: { before, after: 0, read } });
        await fork.pass(100);
        expect((await process.runtime.loadState("x")).status).toBe("cancelled");
        expect(process.warnings).toEqual([]);
        await process.kill();
      }
    }
  });
});

describe("a step that is over before it began", () => {
  test("is not dispatched: issued in the turn that ends the flow", async () => {
    const world = World.memory();
    const step = world.step("s", () => 1);
    const f = flow("f", async (ctx) => {
      void ctx.run(step, 1);
      return "ended";
    });
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).frames["s"]?.status).toBe("started");
    await world.pass(1_000);
    expect(world.ran("s")).toBe(0);
    expect(await world.types()).toEqual(["EXECUTION_STARTED", "STEP_STARTED", "EXECUTION_COMPLETED"]);
  });

  test("is not dispatched: cancelled while its request was on its way", async () => {
    const world = World.memory();
    const step = world.step("s", () => 1);
    const f = flow("f", async (ctx) => ctx.run(step, 1));
    const process = await world.open([f], { pace: SLOW });
    let cancelled: Promise<unknown> | undefined;
    process.store.onCommit = () => {
      cancelled ??= process.runtime.cancel("x");
    };
    await process.start(f, null);
    expect((await process.finish("x")).status).toBe("cancelled");
    await world.until(cancelled!);
    expect(world.ran("s")).toBe(0);
  });
});

describe("a watcher that comes at any moment", () => {
  test.each([10_000, 0])(
    "is told of the gate, whatever else is going on and changes nothing; room for %i",
    async (maxResident) => {
      for (let turns = 0; turns < 30; turns++) {
        const world = World.memory();
        const f = flow("f", async (ctx) => ctx.suspend({ on: "gate" }), {
          resumeSchemas: { gate: z.number() },
        });
        const first = await world.open([f]);
        await world.until((await first.start(f, null)).waitForSuspend());
        const process = await world.restart([f], { maxResident, pace: { before: 2, after: 3, read: 2 } });
        // Brings the execution into memory, is refused, and leaves no commit behind that could tell anybody.
        const refused = process.runtime
          .resume("x", { eventType: "gate", payload: "no number" })
          .catch(codeOf);
        for (let turn = 0; turn < turns; turn++) await nextTurn();
        const waiting = process.runtime.handle("x").waitForSuspend();
        expect((await world.until(waiting)).status).toBe("suspended");
        expect(await world.until(refused)).toBe("RESUME_PAYLOAD_INVALID");
        expect(process.store.commits).toBe(0);
        await process.kill();
      }
    },
  );
});

describe("late news", () => {
  test("T2: the outcome of an attempt that timed out does not count for the next one", async () => {
    const world = World.memory();
    const step = world.step(
      "s",
      async (_input, { attempt }) => {
        await world.delay(attempt === 1 ? 150 : 500);
        return `attempt ${attempt}`;
      },
      { timeoutMs: 100, retry: { maxAttempts: 3, baseDelayMs: 10 } },
    );
    const f = flow("f", async (ctx) => ctx.run(step, 1).catch(codeOf));
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("EFFECT_TIMED_OUT");
    expect((await world.types()).filter((type) => type === "STEP_COMPLETED")).toEqual([]);
  });

  test("T2: an attempt that outlives its execution or its cancel is recorded as late, and changes nothing", async () => {
    const world = World.memory();
    const slow = world.step("slow", async (_input, { emit }) => {
      await world.delay(1_000);
      emit("late", 1);
      return "late";
    });
    const ends = flow("ends", async (ctx) => void (await Promise.race([ctx.run(slow, 1), ctx.sleep(10)])));
    const waits = flow("waits", async (ctx) => ctx.run(slow, 1));
    const process = await world.open([ends, waits]);
    await process.start(ends, null, "ended");
    await process.start(waits, null, "cancelled");
    await process.finish("ended");
    await world.until(process.runtime.cancel("cancelled"));
    const before = [await world.types("ended"), await world.types("cancelled")];
    await world.pass(5_000);
    const after = [await world.types("ended"), await world.types("cancelled")];
    expect(after).toEqual(before.map((types) => [...types, "OUTCOME_LATE"]));
  });

  test("T2: what is late says which issue of its id it belonged to", async () => {
    const world = World.memory();
    const step = {
      ...world.step("s", async () => {
        if (world.ran("s") > 2) return "third";
        await world.delay(1_000 * world.ran("s"));
        return "late";
      }),
      timeoutMs: 10,
    };
    const f = flow("f", async (ctx) => {
      for (;;) {
        try {
          return await ctx.run(step, 1);
        } catch {
          // issued again under the same id
        }
      }
    });
    const process = await world.open([f]);
    await process.start(f, null);
    await process.finish("x");
    await world.pass(5_000);
    const late = (await world.events()).filter(({ type }) => type === "OUTCOME_LATE");
    expect(late.map(({ payload }) => payload)).toMatchObject([{ issue: 1 }, { issue: 2 }]);
    const { frames } = await process.runtime.loadState("x");
    expect(frames["s"]!.late).toMatchObject([
      { issue: 1, attempt: 1 },
      { issue: 2, attempt: 1 },
    ]);
  });

  test("a decision that a cancel called off does not answer the one that has its id since", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      const decide = (context: ExecutionContext, choice: string, ms: number) =>
        context.decide("which", async () => {
          await world.delay(ms);
          return choice;
        });
      await decide(ctx, "stale", 1_000).catch(() =>
        ctx.shield(async (shielded) => shielded.emit("Chosen", await decide(shielded, "fresh", 5_000))),
      );
    });
    const process = await world.open([f]);
    await process.start(f, null);
    await world.until(process.runtime.cancel("x", "enough"));
    expect((await process.finish("x")).decisions).toEqual({ which: "fresh" });
    expect((await world.events()).find(({ type }) => type === "Chosen")?.payload).toBe("fresh");
  });

  test("T2: an event of an attempt that failed is not one of the next, though its step was issued again", async () => {
    const world = World.memory();
    let late = (): void => {};
    const step = world.step("s", async (_input, { emit }) => {
      if (world.ran("s") === 1) {
        late = () => emit("Late", 1);
        throw new Error("no");
      }
      late();
      await world.delay(100);
    });
    const f = flow("f", async (ctx) => {
      await ctx.run(step, 1).catch(() => {});
      await ctx.run(step, 1);
    });
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).status).toBe("completed");
    expect(await world.types()).not.toContain("Late");
  });

  test("a decision that comes after the end is dropped", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => {
      void ctx.decide("slow", async () => {
        await world.delay(1_000);
        return 1;
      });
      await ctx.sleep(10);
      return "ended";
    });
    const process = await world.open([f]);
    await process.start(f, null, "x");
    await process.start(f, null, "y");
    await world.until(process.runtime.cancel("y"));
    await process.finish("x");
    const before = [await world.events("x"), await world.events("y")];
    await world.pass(5_000);
    expect([await world.events("x"), await world.events("y")]).toEqual(before);
  });

  test("a decision and a cancel of one moment: the flow ends once", async () => {
    const world = World.memory();
    let decide: (value: number) => void = () => {};
    const f = flow("f", async (ctx) =>
      ctx.decide("d", () => new Promise<number>((resolve) => (decide = resolve))),
    );
    const process = await world.open([f], { pace: SLOW });
    await process.start(f, null);
    const cancelled = process.runtime.cancel("x").then(() => "ok", codeOf);
    decide(1);
    const told = await world.until(cancelled);
    const state = await process.finish("x");
    expect([told, state.status]).toEqual(
      state.status === "cancelled" ? ["ok", "cancelled"] : ["EXECUTION_ENDED", "completed"],
    );
    expect((await world.types()).filter((type) => type.startsWith("EXECUTION_C")).length).toBe(1);
  });
});

describe("misbehaving programs", () => {
  test("a handler's thenable that settles twice and throws counts once, and closing does not wait for it", async () => {
    const world = World.memory();
    const step = world.step("s", () => ({
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what this test is about.
      then(resolve: (value: unknown) => void, reject: (error: unknown) => void) {
        resolve(1);
        resolve(2);
        reject(new Error("three"));
        throw new Error("four");
      },
    }));
    const f = flow("f", async (ctx) => [await ctx.run(step, 1), await ctx.suspend({ on: "gate" })]);
    const process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    const begun = world.clock.now;
    await process.close();
    expect(world.clock.now).toBe(begun);
    expect((await world.types()).filter((type) => type.startsWith("STEP_"))).toEqual([
      "STEP_STARTED",
      "STEP_COMPLETED",
    ]);
  });

  test("an observer that starts, resumes and cancels from within is served", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => ctx.suspend({ on: "gate" }));
    const told: string[] = [];
    const process = await world.open([f], {
      onEvent: ({ type, executionId }) => {
        if (type !== "EXECUTION_SUSPENDED" || executionId !== "x") return;
        void process.runtime.start(f, null, { executionId: "y" }).then(() => told.push("y started"));
        void process.runtime.resume("x", { eventType: "gate", payload: 1 }).then(
          () => told.push("x resumed"),
          (error) => told.push(codeOf(error)),
        );
      },
    });
    await process.start(f, null);
    await process.finish("x", { gate: 2 });
    await world.settle();
    expect(told.sort()).toEqual(["x resumed", "y started"]);
  });

  test("a flow that issues thousands of steps at once", async () => {
    const world = World.memory();
    const f = flow(
      "f",
      async (ctx) =>
        (
          await ctx.parallel(
            Array.from(
              { length: 3_000 },
              (_, i) => () =>
                ctx.run(
                  world.step<number, number>(`s${i}`, (n) => n),
                  i,
                ),
            ),
          )
        ).length,
    );
    const process = await world.open([f], { maxResident: 0 });
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe(3_000);
    expect(new Set(world.runs.values())).toEqual(new Set([1]));
  });

  test("a synchronous handler chain does not keep the loop from others", async () => {
    const world = World.memory();
    const busy = flow("busy", async (ctx) => {
      for (let i = 0; i < 2_000; i++)
        await ctx.run(
          world.step(`s#${i}`, () => i),
          i,
        );
    });
    const quick = flow("quick", async (ctx) =>
      ctx.run(
        world.step("q", () => "quick"),
        1,
      ),
    );
    let busyEvents = 0;
    let seenByQuick = -1;
    const process = await world.open([busy, quick], {
      onDurableEvent: ({ executionId, type }) => {
        if (executionId === "busy" && ++busyEvents === 100)
          void process.runtime.start(quick, null, { executionId: "quick" });
        if (executionId === "quick" && type === "EXECUTION_COMPLETED") seenByQuick = busyEvents;
      },
    });
    await process.start(busy, null, "busy");
    await process.finish("busy");
    expect(seenByQuick).toBeGreaterThan(0);
    expect(seenByQuick).toBeLessThan(300);
  });
});
