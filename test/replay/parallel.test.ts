import { describe, expect, test } from "vitest";
import type { HeddleError } from "../../src/kernel/index.js";
import { essence, runThroughCrashes } from "../support/crashing.js";
import type { Scenario } from "../support/scenarios.js";
import { flow, unhandledRejections, World } from "../support/world.js";

/** A small deterministic source of delays, so that a failing run can be run again. */
function delays(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) % 50;
}

describe("C-REP-03: five branches that end in any order, one of them throwing", () => {
  test.each(Array.from({ length: 40 }, (_, seed) => seed))(
    "delays of seed %i, with a crash at every commit",
    async (seed) => {
      const rejections = unhandledRejections();
      const failing = seed % 5;
      const scenario: Scenario = {
        name: `seed ${seed}`,
        make: (world) => {
          const next = delays(seed);
          const branches = Array.from({ length: 5 }, (_, index) =>
            world.step<number, string>(`b${index}`, async (n) => {
              await world.delay(next());
              if (index === failing) throw new Error(`b${n}`);
              return `r${n}`;
            }),
          );
          const compensate = world.step<string, string>("compensate", (text) => text);
          return flow("f", async (ctx) => {
            const settled = await Promise.allSettled(branches.map((branch, index) => ctx.run(branch, index)));
            const caught = await ctx
              .parallel([async () => ctx.sleep(1), async () => Promise.reject(new Error("mine"))])
              .catch((error: Error) => error.message);
            return ctx.run(compensate, `${settled.map(({ status }) => status[0]).join("")} ${caught}`);
          });
        },
      };
      const world = World.memory();
      const f = scenario.make(world);
      const process = await world.open([f]);
      await process.start(f, null);
      const state = await process.finish("x");
      expect(state.variables["_output"]).toBe(
        `${["f", "f", "f", "f", "f"].map((_, i) => (i === failing ? "r" : "f")).join("")} mine`,
      );
      for (let commit = 1; commit <= process.store.commits; commit++) {
        const run = await runThroughCrashes(scenario, (count) =>
          count === 0 ? { commit, kept: commit % 2 === 0 } : undefined,
        );
        expect(essence(run.state)).toEqual(essence(state));
      }
      expect(rejections).toEqual([]);
    },
  );
});

describe("C-REP-03: ctx.parallel", () => {
  test("when one branch fails no further one starts, the started ones are waited for, and their results are recorded", async () => {
    const world = World.memory();
    const steps = [30, 5, 60, 1, 1].map((ms, index) =>
      world.step(`b${index}`, async () => {
        await world.delay(ms);
        if (index === 1) throw new Error("b1");
        return index;
      }),
    );
    const [b0, b1, b2, b3, b4] = steps;
    const f = flow("f", async (ctx) => {
      const begun = ctx.now();
      try {
        await ctx.parallel(
          [
            [b0!, 0],
            [b1!, 0],
            [b2!, 0],
            [b3!, 0],
            [b4!, 0],
          ],
          { limit: 3 },
        );
        return "no failure";
      } catch (error) {
        return [(error as Error).message, ctx.now() - begun];
      }
    });
    const process = await world.open([f]);
    await process.start(f, null);
    const state = await process.finish("x");
    expect(state.variables["_output"]).toEqual(["b1", 60]);
    expect(Object.entries(state.frames).map(([id, { status }]) => [id, status])).toEqual([
      ["b0", "completed"],
      ["b1", "failed"],
      ["b2", "completed"],
    ]);
  });

  test("results keep the order of the branches, and no more than `limit` are at work", async () => {
    const world = World.memory();
    let atWork = 0;
    let most = 0;
    const f = flow("f", async (ctx) => {
      const branches = Array.from(
        { length: 12 },
        (_, i) => () =>
          ctx.run(
            world.step<number, number>(`s${i}`, async (n) => {
              most = Math.max(most, ++atWork);
              await world.delay(20 - n);
              atWork--;
              return n;
            }),
            i,
          ),
      );
      return ctx.parallel(branches, { limit: 3 });
    });
    const process = await world.open([f]);
    await process.start(f, null);
    const state = await process.finish("x");
    expect(state.variables["_output"]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(most).toBe(3);
  });

  test("the first failure in the order of the log is the one thrown", async () => {
    const world = World.memory();
    const fails = (id: string, ms: number) =>
      world.step(id, async () => {
        await world.delay(ms);
        throw new Error(id);
      });
    const [late, early] = [fails("late", 20), fails("early", 10)];
    const f = flow("f", async (ctx) =>
      ctx
        .parallel([
          [late, 1],
          [early, 1],
        ])
        .catch((error: Error) => error.message),
    );
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("early");
  });

  test.each([0, -1, Number.NaN])("a limit of %d is refused", async (limit) => {
    const world = World.memory();
    const f = flow("f", async (ctx) =>
      ctx.parallel([async () => 1], { limit }).catch((error: HeddleError) => error.code),
    );
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("INPUT_INVALID");
  });

  test("no branches give no results", async () => {
    const world = World.memory();
    const f = flow("f", async (ctx) => [
      await ctx.parallel([]),
      await ctx.parallel([], { limit: 0 }),
      await ctx.decide("d", () => 1),
    ]);
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toEqual([[], [], 1]);
  });
});

describe("C-REP-03: a failure nobody awaits yet", () => {
  test.each([10_000, 0])(
    "of a step, a decision, a gate and of branches is no unhandled rejection, resident: %i",
    async (maxResident) => {
      const rejections = unhandledRejections();
      const world = World.memory();
      const fails = world.step("fails", () => {
        throw new Error("no");
      });
      const f = flow("f", async (ctx) => {
        const pending = [
          ctx.run(fails, 1),
          ctx.decide("d", () => Promise.reject(new Error("undecided"))),
          ctx.suspend({ on: "g", timeout: 5 }),
          ctx.parallel([() => ctx.run(fails, 1)]),
          ctx.run(fails, () => {}),
          ctx.sleep(Number.NaN),
          ctx.suspend({ on: "" }),
          ctx.decide("", () => 1),
          ctx.parallel([], { limit: 1 }),
          ctx.parallel([async () => 1], { limit: 0 }),
        ];
        await ctx.sleep(50);
        const caught: unknown[] = [];
        for (const promise of pending) {
          try {
            caught.push(await promise);
          } catch (error) {
            caught.push((error as HeddleError).code ?? (error as Error).message);
          }
        }
        return caught;
      });
      const process = await world.open([f], { maxResident });
      await process.start(f, null);
      expect((await process.finish("x")).variables["_output"]).toEqual([
        "no",
        "undecided",
        "GATE_TIMED_OUT",
        "STEP_ID_REUSED",
        "VALUE_NOT_RECORDABLE",
        "INPUT_INVALID",
        "ID_INVALID",
        "ID_INVALID",
        [],
        "INPUT_INVALID",
      ]);
      await world.settle();
      expect(rejections).toEqual([]);
    },
  );

  test("left unawaited to the end, it harms nobody", async () => {
    const rejections = unhandledRejections();
    const world = World.memory();
    const fails = world.step("fails", () => {
      throw new Error("no");
    });
    const f = flow("f", async (ctx) => {
      void ctx.run(fails, 1);
      void ctx.parallel([
        () =>
          ctx.run(
            world.step("also", () => Promise.reject(new Error("no"))),
            1,
          ),
      ]);
      await ctx.sleep(10);
      return "done";
    });
    const process = await world.open([f]);
    await process.start(f, null);
    expect((await process.finish("x")).variables["_output"]).toBe("done");
    await world.settle();
    expect(rejections).toEqual([]);
  });
});

describe("C-REP-03: race, any and allSettled take the recorded branch on every replay", () => {
  const SIZES = [0, 1, 1_000, 100_000, 2_000_000];

  test.each(SIZES.flatMap((winner) => SIZES.map((loser) => [winner, loser])))(
    "a winner of %i bytes, a loser of %i bytes",
    async (winner, loser) => {
      const world = World.memory();
      const step = (id: string, ms: number, size: number) =>
        world.step(id, async () => {
          await world.delay(ms);
          return { id, rows: Array.from({ length: Math.ceil(size / 100) }, (_, n) => "x".repeat(90) + n) };
        });
      const [first, second] = [step("first", 10, winner), step("second", 11, loser)];
      const seen: string[] = [];
      const f = flow("f", async (ctx) => {
        const runs = [ctx.run(second, 1), ctx.run(first, 1)];
        const order: string[] = [];
        for (const run of runs) void run.then(({ id }) => order.push(id));
        const raced = await Promise.race(runs);
        const any = await Promise.any(runs);
        await Promise.allSettled(runs);
        seen.push(`${raced.id} ${any.id} ${order.join()}`);
        await ctx.suspend({ on: "gate" });
        return raced.id;
      });
      let process = await world.open([f], { maxResident: 0 });
      await world.until((await process.start(f, null)).waitForSuspend());
      for (let replay = 0; replay < 3; replay++) {
        process = await world.restart([f]);
        // A resume for a gate that does not exist makes the execution come into memory, and changes nothing.
        await expect(
          world.until(process.runtime.resume("x", { eventType: "nothing" })),
        ).rejects.toMatchObject({ code: "GATE_NOT_OPEN" });
      }
      expect((await process.finish("x", { gate: 1 })).variables["_output"]).toBe("first");
      expect(new Set(seen)).toEqual(new Set(["first first first,second"]));
      expect(seen.length).toBe(4); // once live, and a replay in each process after it
    },
  );

  test("outcomes that came in one pass are still delivered one at a time, in their order", async () => {
    const world = World.memory();
    const quick = ["a", "b", "c"].map((id) => world.step(id, () => id));
    const trail: string[] = [];
    const f = flow("f", async (ctx) => {
      const mine: string[] = [];
      const branch = async (index: number): Promise<string> => {
        const id = await ctx.run(quick[index]!, 1);
        mine.push(`${id}1`);
        await null;
        await Promise.resolve().then(() => {});
        mine.push(`${id}2`);
        return id;
      };
      const winner = await Promise.race([branch(2), branch(0), branch(1)]);
      await ctx.suspend({ on: "gate" });
      trail.push(mine.join(" "));
      return winner;
    });
    let process = await world.open([f]);
    await world.until((await process.start(f, null)).waitForSuspend());
    process = await world.restart([f]);
    expect((await process.finish("x", { gate: 1 })).variables["_output"]).toBe("c");
    expect(trail).toEqual(["c1 c2 a1 a2 b1 b2"]);
  });
});
