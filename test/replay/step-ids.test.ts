import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ToolEffect } from "../../src/effects/index.js";
import { type ExecutionContext, flow$, TypedFailure } from "../../src/kernel/index.js";
import { codeOf, flow, World } from "../support/world.js";

/** Runs a flow to its end, once straight through and once replayed before every move, and gives what it came to. */
async function outcomes(body: (ctx: ExecutionContext, world: World) => Promise<unknown>): Promise<unknown[]> {
  const outputs: unknown[] = [];
  for (const maxResident of [10_000, 0]) {
    const world = World.memory();
    const f = flow("f", (ctx) => body(ctx, world));
    const process = await world.open([f], { maxResident });
    await process.start(f, null);
    const { status, variables, error } = await process.finish("x", { gate: 1 });
    outputs.push(status === "completed" ? variables["_output"] : error);
  }
  return outputs;
}

describe("C-REP-02: one step id twice in one run", () => {
  test("in a loop it is an error that names the fix, not the first iteration's answer", async () => {
    const outputs = await outcomes(async (ctx, world) => {
      const load = world.step<number, number>("load", (n) => n * 10);
      const seen: unknown[] = [];
      for (const i of [1, 2, 3]) seen.push(await ctx.run(load, i));
      return seen;
    });
    for (const error of outputs) {
      expect(error).toMatchObject({ code: "STEP_ID_REUSED" });
      expect((error as Error).message).toContain("issued the id load a second time in one run");
      expect((error as Error).message).toContain("`${id}#${i}` (load#1)");
    }
  });

  test("also with the same input, also while the first is still at work, also caught", async () => {
    const outputs = await outcomes(async (ctx, world) => {
      const load = world.step<number, number>("load", (n) => n);
      const first = ctx.run(load, 1);
      const early = await ctx.run(load, 1).catch(codeOf);
      return [await first, early, await ctx.run(load, 1).catch(codeOf)];
    });
    expect(outputs).toEqual(Array(2).fill([1, "STEP_ID_REUSED", "STEP_ID_REUSED"]));
  });

  test("in two branches of ctx.parallel", async () => {
    const outputs = await outcomes(async (ctx, world) => {
      const load = world.step<number, number>("load", (n) => n);
      return ctx.parallel([() => ctx.run(load, 1), () => ctx.run(load, 2)]).catch(codeOf);
    });
    expect(outputs).toEqual(["STEP_ID_REUSED", "STEP_ID_REUSED"]);
  });

  test("decisions still open share the rule; one that is taken may be asked for again, and is asked", async () => {
    const outputs = await outcomes(async (ctx) => {
      const first = ctx.decide("d", () => 1);
      const second = await ctx.decide("d", () => 2).catch(codeOf);
      return [await first, second, await ctx.decide("d", () => 3)];
    });
    expect(outputs).toEqual(Array(2).fill([1, "STEP_ID_REUSED", 3]));
  });

  test("ids minted per iteration keep their results when a different branch gains iterations", async () => {
    const world = World.memory();
    let counts = [2, 3];
    const f = flow("f", async (ctx) => {
      const loop = (branch: string, count: number) => async () => {
        const seen: unknown[] = [];
        for (let i = 0; i < count; i++)
          seen.push(
            await ctx.run(
              world.step<string, string>(`load-${branch}#${i}`, (of) => `${of}!`),
              `${branch}${i}`,
            ),
          );
        await ctx.suspend({ on: `gate-${branch}` });
        return seen;
      };
      return ctx.parallel([loop("a", counts[0]!), loop("b", counts[1]!)]);
    });
    let process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    for (let round = 0; round < 3; round++) process = await world.restart([f]);
    counts = [2, 3];
    const state = await process.finish("x", { "gate-a": 1, "gate-b": 1 });
    expect(state.variables["_output"]).toEqual([
      ["a0!", "a1!"],
      ["b0!", "b1!", "b2!"],
    ]);
    expect([...world.runs.values()]).toEqual([1, 1, 1, 1, 1]);
  });

  test("in two flows, and in two executions, ids have nothing to do with each other", async () => {
    const world = World.memory();
    const load = (of: string) => world.step<number, string>("load", (n) => `${of}${n}`);
    const one = flow("one", async (ctx) => ctx.run(load("one"), 1));
    const two = flow("two", async (ctx) => ctx.run(load("two"), 2));
    const process = await world.open([one, two]);
    await process.start(one, null, "x");
    await process.start(two, null, "y");
    await process.start(one, null, "z");
    const outputs = await Promise.all(
      ["x", "y", "z"].map(async (id) => (await process.finish(id)).variables["_output"]),
    );
    expect(outputs).toEqual(["one1", "two2", "one1"]);
  });

  test("a step, a gate, a decision and an event of one name do not meet", async () => {
    const outputs = await outcomes(async (ctx, world) => {
      const step = world.step("gate", () => "step");
      ctx.emit("gate", "event");
      ctx.ui.set("gate", "patch");
      return Promise.all([
        ctx.run(step, 1),
        ctx.decide("gate", () => "decision"),
        ctx.suspend({ on: "gate" }),
      ]);
    });
    expect(outputs).toEqual(Array(2).fill(["step", "decision", 1]));
  });

  test.each(["constructor", "toString", "hasOwnProperty", "valueOf", "0", "a.b", "ключ"])(
    "%j is a step id like any other",
    async (id) => {
      const world = World.memory();
      const f = flow("f", async (ctx) => [
        await ctx.run(
          world.step(id, () => "ran"),
          1,
        ),
        await ctx.suspend({ on: id }),
      ]);
      let process = await world.open([f], { maxResident: 0 });
      await world.until((await process.start(f, null)).waitForSuspend());
      process = await world.restart([f]);
      const state = await process.finish("x", { [id]: "answered" });
      expect(state.variables["_output"]).toEqual(["ran", "answered"]);
      expect(Object.keys(state.frames)).toEqual([id]);
    },
  );
});

describe("C-REP-02: issuing an id again after a failure", () => {
  test("an untyped failure may be issued again, with any input; the key to the outside tells the two apart", async () => {
    const keys: string[] = [];
    const outputs = await outcomes(async (ctx, world) => {
      const flaky = world.step<number, number>("flaky", (n, { idempotencyKey, attempt }) => {
        keys.push(`${idempotencyKey} ${attempt}`);
        if (n < 3) throw new Error(`not ${n}`);
        return n;
      });
      for (let n = 1; ; n++) {
        try {
          return await ctx.run(flaky, n);
        } catch (error) {
          if (n > 5) throw error;
        }
      }
    });
    expect(outputs).toEqual([3, 3]);
    expect(keys).toEqual(
      Array.from({ length: 2 }).flatMap(() => ["x/flaky 1", "x/flaky#2 1", "x/flaky#3 1"]),
    );
  });

  test("a typed failure is served again, as the same error, without running the effect", async () => {
    let runs = 0;
    const outputs = await outcomes(async (ctx, world) => {
      const typed = world.step<number, number>(
        "typed",
        () => {
          runs++;
          throw new TypedFailure("quota", { left: 0 }, "nothing is left");
        },
        { errors: { quota: z.object({ left: z.number() }) } },
      );
      const caught: unknown[] = [];
      for (const input of [1, 1]) await ctx.run(typed, input).catch((error: unknown) => caught.push(error));
      const other = await ctx.run(typed, 2).catch(codeOf);
      const [first, second] = caught as [TypedFailure, TypedFailure];
      await ctx.sleep(5);
      return [
        first === second,
        first instanceof TypedFailure,
        first.channel,
        first.payload,
        first.message,
        other,
      ];
    });
    expect(outputs).toEqual(
      Array(2).fill([true, true, "quota", { left: 0 }, "nothing is left", "STEP_ID_REUSED"]),
    );
    expect(runs).toBe(2);
  });
});

describe("C-REP-02: two definitions under one name", () => {
  const any = z.unknown();

  test("two different flows are refused, the same one is fine", async () => {
    const world = World.memory();
    const process = await world.open([]);
    const { runtime } = process;
    const definition = flow$({ id: "f", version: "1", inputSchema: any, outputSchema: any });
    const runner = async (): Promise<unknown> => 1;
    runtime.registerFlow(definition, runner);
    expect(() => runtime.registerFlow(definition, runner)).not.toThrow();
    expect(() => runtime.registerFlow(definition, async () => 2)).toThrow(
      expect.objectContaining({
        code: "DEFINITION_CONFLICT",
        details: { flowId: "f", version: "1" },
      }) as Error,
    );
    expect(() => runtime.registerFlow({ ...definition }, runner)).toThrow(
      /Another flow is registered as f version 1/,
    );
    expect(() => runtime.registerFlow({ ...definition, version: "2" }, async () => 2)).not.toThrow();
  });

  test("what is no flow is refused", async () => {
    const process = await World.memory().open([]);
    for (const [definition, runner] of [
      [undefined, async () => 1],
      [{ id: 7 }, async () => 1],
      [{ id: "f" }, undefined],
    ]) {
      expect(() => process.runtime.registerFlow(definition as never, runner as never)).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID" }) as Error,
      );
    }
  });

  test("two different effects are refused, the same one is fine", async () => {
    const { effects } = await World.memory().open([]);
    const effect = new ToolEffect(async () => 1);
    effects.register("t", effect);
    expect(() => effects.register("t", effect)).not.toThrow();
    expect(() => effects.register("t", new ToolEffect(async () => 1))).toThrow(
      expect.objectContaining({ code: "DEFINITION_CONFLICT", details: { id: "t" } }) as Error,
    );
  });
});
