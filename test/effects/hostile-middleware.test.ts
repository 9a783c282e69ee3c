// Goal: whatever a middleware does to the attempt it stands around, that attempt alone comes out otherwise: typed, recorded,
// and nobody else notices.
// Method: one app on a real log. Each row's middleware is hostile to executions of its own name and leaves a thousand others
// alone that run at the same time.

import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { EffectContext, EffectMiddleware, RemoteEffect } from "../../src/effects/index.js";
import {
  flow,
  type Latch,
  latch,
  openApp,
  step,
  temporaryDirectory,
  typesOf,
  unhandledRejections,
  within,
} from "../lifecycle/world.js";
import { flow as anyFlow, World } from "../support/world.js";

const HEALTHY = 1_000;
const failure = new TypeError("of the middleware");
class Gone extends Error {
  override name = "Gone";
}

interface Row {
  readonly what: string;
  readonly hostile: EffectMiddleware;
  /** What the execution fails with. */
  readonly error?: object | string;
  /** Or gives. */
  readonly output?: unknown;
  /** How often the effect ran. */
  readonly ran: number;
}

const rows: readonly Row[] = [
  {
    what: "throws before it goes on",
    hostile: async () => {
      throw failure;
    },
    error: { name: "TypeError", message: "of the middleware" },
    ran: 0,
  },
  {
    what: "throws before it gives a promise",
    hostile: () => {
      throw failure;
    },
    error: { name: "TypeError", message: "of the middleware" },
    ran: 0,
  },
  {
    what: "throws after the effect",
    hostile: async (_ctx, _input, next) => {
      await next();
      throw failure;
    },
    error: { message: "of the middleware" },
    ran: 1,
  },
  { what: "never goes on: its answer counts", hostile: async () => "answered", output: "answered", ran: 0 },
  {
    what: "gives no promise",
    hostile: (() => "at once") as unknown as EffectMiddleware,
    output: "at once",
    ran: 0,
  },
  {
    what: "goes on twice at once",
    hostile: async (_ctx, _input, next) => (await Promise.all([next(), next()]))[0],
    error: { code: "NEXT_MISUSED", details: { toolId: "work", stepId: "work" } },
    ran: 1,
  },
  {
    what: "goes on again after it succeeded",
    hostile: async (_ctx, _input, next) => {
      await next();
      return next();
    },
    error: { code: "NEXT_MISUSED" },
    ran: 1,
  },
  {
    what: "goes on twice and does not look",
    hostile: async (_ctx, _input, next) => {
      void next();
      void next();
      return "unseen";
    },
    error: { code: "NEXT_MISUSED" },
    ran: 1,
  },
  {
    what: "does not look at a failure",
    hostile: async (_ctx, _input, next) => {
      void next("fail");
      await nextTurn();
      return "unseen";
    },
    output: "unseen",
    ran: 1,
  },
  {
    what: "goes on again after a failure, which is an attempt of its own",
    hostile: async (_ctx, _input, next) => {
      try {
        return await next("fail");
      } catch {
        return next();
      }
    },
    output: "done",
    ran: 2,
  },
  {
    what: "gives what cannot be recorded",
    hostile: async () => ({ rows: [{ cb: () => {} }] }),
    error: { code: "VALUE_NOT_RECORDABLE", message: expect.stringContaining(".rows[0].cb") as string },
    ran: 0,
  },
  {
    what: "gives a thenable that calls back twice",
    hostile: () =>
      ({
        // biome-ignore lint/suspicious/noThenProperty: this is what the row is about.
        then: (done: (value: string) => void) => {
          done("first");
          done("second");
        },
      }) as Promise<unknown>,
    output: "first",
    ran: 0,
  },
  {
    what: "rejects with what is no error",
    hostile: () => Promise.reject("away"),
    error: "away",
    ran: 0,
  },
  {
    what: "rejects with what cannot be recorded",
    hostile: () => Promise.reject(() => "away"),
    error: { message: expect.stringContaining("cannot be recorded: a function") as string },
    ran: 0,
  },
  {
    what: "rejects with an error of a class of its own",
    hostile: () => Promise.reject(new Gone("away", { cause: failure })),
    error: { name: "Gone", message: "away", cause: expect.objectContaining({ name: "TypeError" }) as object },
    ran: 0,
  },
  {
    what: "never comes back, until the time limit",
    hostile: () => new Promise(() => {}),
    error: { code: "EFFECT_TIMED_OUT" },
    ran: 0,
  },
];

describe("a middleware that", () => {
  it.each(rows)("$what", async ({ hostile, error, output, ran }) => {
    const strays = unhandledRejections();
    const counts = new Map<string, number>();
    const middleware: EffectMiddleware = (ctx, input, next) =>
      ctx.executionId === "hostile" ? hostile(ctx, input, next) : next();
    const work = step(
      "work",
      (input, { executionId }) => {
        counts.set(executionId, (counts.get(executionId) ?? 0) + 1);
        if (input === "fail") throw new Error("as it was told");
        return "done";
      },
      { timeoutMs: 500 },
    );
    const f = flow("f", (ctx) => ctx.run(work, 1));
    const app = openApp({
      dir: temporaryDirectory(),
      flows: [f],
      execution: { effectMiddleware: [middleware] },
    });
    const healthy = Array.from({ length: HEALTHY }, async (_, n) => {
      const handle = await app.runtime.start(f, null, { executionId: `healthy-${n}` });
      return handle.result();
    });
    const handle = await app.runtime.start(f, null, { executionId: "hostile" });
    const state = await within(handle.waitForCompletion(), "the end of the hostile one");
    if (error) expect(state).toMatchObject({ status: "failed", error });
    else expect(state).toMatchObject({ status: "completed", variables: { _output: output } });
    expect(state.frames["work"]).toMatchObject({ status: error ? "failed" : "completed", attempts: 1 });
    expect(await within(Promise.all(healthy), "the others")).toEqual(Array<string>(HEALTHY).fill("done"));
    expect(counts.get("hostile") ?? 0).toBe(ran);
    counts.delete("hostile");
    expect([...counts.values()]).toEqual(Array<number>(HEALTHY).fill(1));
    await nextTurn();
    expect(strays).toEqual([]);
    expect(await typesOf(app, "hostile")).toEqual([
      "EXECUTION_STARTED",
      "STEP_STARTED",
      error ? "STEP_FAILED" : "STEP_COMPLETED",
      error ? "EXECUTION_FAILED" : "EXECUTION_COMPLETED",
    ]);
  });
});

describe("a middleware that goes on when the attempt is over", () => {
  /** Answers at once and keeps the way inwards for later. */
  const keeping = (kept: Latch, tried: (error: unknown) => void): EffectMiddleware => {
    return async (_ctx, _input, next) => {
      const later = async (): Promise<void> => {
        await kept.opened;
        await next();
      };
      later().catch(tried);
      return "answered";
    };
  };

  it("is refused: nothing happens in the world that the log does not know of", async () => {
    const late = latch();
    let ran = 0;
    const work = step("work", () => ++ran);
    const f = flow("f", (ctx) => ctx.run(work, 1));
    let refused: (error: unknown) => void = () => {};
    const refusal = new Promise<unknown>((resolve) => {
      refused = resolve;
    });
    const app = openApp({ flows: [f], execution: { effectMiddleware: [keeping(late, refused)] } });
    const handle = await app.runtime.start(f, null);
    expect(await handle.result()).toBe("answered");
    late.open();
    expect(await within(refusal, "the refusal")).toMatchObject({ code: "NEXT_MISUSED" });
    expect(ran).toBe(0);
  });

  it("is refused after a time limit too, when the next attempt may be under way", async () => {
    const late = latch();
    const refusals: unknown[] = [];
    const began: number[] = [];
    const sleeper: EffectMiddleware = async ({ attempt }: EffectContext, _input, next) => {
      if (attempt > 1) return next();
      await late.opened;
      try {
        return await next();
      } catch (error) {
        refusals.push(error);
        throw error;
      }
    };
    const work = step(
      "work",
      async (_input, { attempt }) => {
        began.push(attempt);
        late.open();
        while (refusals.length === 0) await nextTurn();
        return "done";
      },
      { timeoutMs: 50, retry: { maxAttempts: 2, baseDelayMs: 1 } },
    );
    const f = flow("f", (ctx) => ctx.run(work, 1));
    const app = openApp({ flows: [f], execution: { effectMiddleware: [sleeper] } });
    const handle = await app.runtime.start(f, null);
    expect(await within(handle.result(), "the end")).toBe("done");
    expect(refusals).toMatchObject([{ code: "NEXT_MISUSED" }]);
    expect(began).toEqual([2]);
  });
});

describe("the time limit of a step under a slow middleware", () => {
  /** A call that takes five seconds somewhere else, where it would be timed too. */
  const far = (world: World): RemoteEffect => {
    const call = async (): Promise<string> => {
      await world.delay(5_000);
      return "done";
    };
    return {
      kind: "tool",
      hasRoom: true,
      whenRoom() {},
      reserve: () => () => {},
      execute: call,
      executeWithin: call,
    };
  };

  it.each<[string, number, number, object]>([
    ["stands still while the effect runs elsewhere", 900, 900, { status: "completed" }],
    ["counts on the way in", 1_100, 0, { status: "failed", error: { code: "EFFECT_TIMED_OUT" } }],
    ["and on the way out", 0, 1_100, { status: "failed", error: { code: "EFFECT_TIMED_OUT" } }],
  ])("%s", async (_what, inMs, outMs, end) => {
    const world = World.memory();
    const slow: EffectMiddleware = async (_ctx, _input, next) => {
      await world.delay(inMs);
      const output = await next();
      await world.delay(outMs);
      return output;
    };
    const f = anyFlow("f", (ctx) => ctx.execute({ id: "far", timeoutMs: 1_000 }, null));
    const process = world.prepare([f], { middleware: [slow] });
    process.effects.register("far", far(world));
    await world.until(process.runtime.open());
    await process.start(f, null);
    expect(await process.finish("x")).toMatchObject(end);
  });

  it.each([
    ["has not begun leaves no doubt", false, "failed"],
    ["has begun leaves doubt", true, "suspended"],
  ])("of an effect that may not run twice and %s", async (_what, begins, status) => {
    const world = World.memory();
    const work = world.step("work", () => new Promise(() => {}), { idempotent: false, timeoutMs: 1_000 });
    const f = anyFlow("f", (ctx) => ctx.run(work, 1));
    const hanging: EffectMiddleware = (_ctx, _input, next) => (begins ? next() : new Promise(() => {}));
    const process = await world.open([f], { middleware: [hanging] });
    await process.start(f, null);
    const state = await world.until(process.runtime.handle("x").settled());
    expect(state.status).toBe(status);
    expect(world.ran("work")).toBe(begins ? 1 : 0);
  });
});

describe("a middleware that goes on when its attempt was called off", () => {
  it("keeps no room of the pool from others, also when it never goes on", async () => {
    const world = World.memory();
    let kept = 0;
    const remote: RemoteEffect = {
      kind: "tool",
      get hasRoom() {
        return kept === 0;
      },
      whenRoom() {},
      reserve() {
        let isKept = true;
        kept++;
        return () => {
          if (isKept) kept--;
          isKept = false;
        };
      },
      execute: async () => "done",
      executeWithin: async (_input, _ctx, { release }) => {
        release?.();
        return "done";
      },
    };
    const f = anyFlow("f", (ctx) => ctx.execute({ id: "far" }, null));
    const hanging: EffectMiddleware = ({ executionId }, _input, next) =>
      executionId === "x" ? new Promise(() => {}) : next();
    const process = world.prepare([f], { middleware: [hanging] });
    process.effects.register("far", remote);
    await world.until(process.runtime.open());
    await process.start(f, null);
    await world.settle();
    expect(kept).toBe(1);
    await world.until(process.runtime.cancel("x", "enough"));
    expect(kept).toBe(0);
    await process.start(f, null, "other");
    expect((await process.finish("other")).status).toBe("completed");
  });

  it.each(["cancelled", "ended", "past the deadline of its step", "closed"] as const)(
    "%s: next() throws the reason, the effect does not run, and nothing is recorded of it",
    async (how) => {
      const world = World.memory();
      const pay = world.step("pay", () => "paid", how.startsWith("past") ? { deadlineMs: 1_000 } : {});
      const f = anyFlow("f", async (ctx) => {
        const paid = ctx.run(pay, 7).catch(() => "not paid");
        await Promise.race([paid, how === "ended" ? ctx.sleep(100) : paid]);
      });
      const heard: unknown[] = [];
      const holding: EffectMiddleware = async (ctx, _input, next) => {
        await world.delay(5_000);
        return next().catch((error: unknown) => {
          heard.push(error === ctx.signal.reason);
          throw error;
        });
      };
      const process = await world.open([f], { middleware: [holding] });
      await process.start(f, null);
      await world.pass(500);
      if (how === "cancelled") await world.until(process.runtime.cancel("x", "enough"));
      if (how === "closed") await world.until(process.runtime.close({ deadlineMs: 1_000 }));
      await world.pass(10_000);
      expect(heard).toEqual([true]);
      expect(world.ran("pay")).toBe(0);
      expect(await world.types()).not.toContain("OUTCOME_LATE");
    },
  );
});
