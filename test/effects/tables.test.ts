// The tables of docs/effects.md, a test a row, where no other file has one: options and context of an effect, failures by code
// and whether they are tried again, channels, verdicts, and what a kill leaves.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type EffectContext,
  type EffectMiddleware,
  type EffectOptions,
  EffectRuntime,
  fail,
  GrantTable,
  KillSwitch,
  ring,
  ToolEffect,
} from "../../src/effects/index.js";
import { type ExecutableTask, HeddleError } from "../../src/kernel/index.js";
import { type RetryEvent, retryMiddleware } from "../../src/middleware/index.js";
import { flow, type Process, type ProcessOptions, World } from "../support/world.js";

type Call = (input: unknown, ctx: EffectContext) => unknown;

interface Act extends ProcessOptions {
  readonly world?: World;
  readonly effect?: EffectOptions;
  readonly task?: Partial<ExecutableTask>;
  readonly principal?: string;
}

/** One execution of one step, which runs the effect `act`, in a process that is open. */
async function act(call: Call, { world = World.memory(), effect, task, principal, ...options }: Act = {}) {
  const f = flow("f", (ctx) => ctx.execute({ id: "act", ...task }, { n: 1 }));
  const open = async (): Promise<Process> => {
    const process = world.prepare([f], options);
    const counted = new ToolEffect((input: unknown, ctx) => {
      world.count(`${ctx.executionId}/act`);
      return call(input, ctx);
    }, effect);
    process.effects.register("act", counted);
    await world.until(process.runtime.open());
    return process;
  };
  const process = await open();
  await world.until(
    process.runtime.start(f, null, { executionId: "x", ...(principal !== undefined && { principal }) }),
  );
  const restart = async (): Promise<Process> => {
    await world.process?.kill();
    return open();
  };
  return { world, process, restart };
}

const never = (): Promise<never> => new Promise(() => {});

describe("the options of an effect", () => {
  it.each<[string, object]>([
    ["errors", { errors: { drift: "no schema" } }],
    ["errors", { errors: 3 }],
    ["idempotent", { idempotent: "no" }],
    ["mode", { mode: "Ambient" }],
    ["placement", { placement: "worker" }],
  ])("%s: what makes no sense is refused, and not taken for the default (%j)", (option, options) => {
    const register = () => new EffectRuntime().register("act", new ToolEffect(() => 1, options));
    expect(register).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(register).toThrow(`Effect act: ${option}`);
  });

  it("errors: its channels count for every step that runs it, and those of the step come on top", async () => {
    const drift = { drift: z.object({ by: z.number() }) };
    for (const [channel, effect, task] of [
      ["drift", { errors: drift }, {}],
      ["drift", {}, { errors: drift }],
      ["gone", { errors: drift }, { errors: { gone: z.object({ by: z.number() }) } }],
    ] as const) {
      const { process } = await act(() => fail(channel, { by: 2 }), { effect, task });
      expect((await process.finish("x")).frames["act"]).toMatchObject({ channel, payload: { by: 2 } });
    }
  });

  it.each([
    ["says nothing, nor does its step", undefined, undefined, "running"],
    ["may not run twice", false, undefined, "suspended"],
    ["may not run twice, and its step says that it may", false, true, "running"],
    ["may run twice, and its step says that it may not", true, false, "suspended"],
  ] as const)("idempotent: an effect that %s", async (_what, ofEffect, ofStep, status) => {
    const { world, restart } = await act(never, {
      effect: ofEffect === undefined ? {} : { idempotent: ofEffect },
      task: ofStep === undefined ? {} : { idempotent: ofStep },
    });
    await world.when(() => world.ran("act") === 1);
    const process = await restart();
    await world.settle();
    expect((await process.runtime.loadState("x")).status).toBe(status);
    expect(world.ran("act")).toBe(status === "running" ? 2 : 1);
  });
});

describe("the context of an effect", () => {
  it("says which call it is, for whom, and under which key", async () => {
    const seen: unknown[] = [];
    const call: Call = (_input, ctx) => {
      const { executionId, workflowId, stepId, toolId, taskKind, attempt, idempotencyKey, principal } = ctx;
      seen.push({ executionId, workflowId, stepId, toolId, taskKind, attempt, idempotencyKey, principal });
      if (attempt === 1) throw new Error("not yet");
      return null;
    };
    const task = { id: "step-7", toolId: "act", kind: "tool", retry: { maxAttempts: 2 } } as const;
    const { process } = await act(call, { task, principal: "ann" });
    await process.finish("x");
    const same = {
      executionId: "x",
      workflowId: "f",
      stepId: "step-7",
      toolId: "act",
      taskKind: "tool",
      idempotencyKey: "x/step-7",
      principal: "ann",
    };
    expect(seen).toEqual([
      { ...same, attempt: 1 },
      { ...same, attempt: 2 },
    ]);
  });

  it.each<[string, object, (world: World, process: Process) => Promise<unknown>, RegExp]>([
    [
      "the execution is cancelled",
      {},
      (world, { runtime }) => world.until(runtime.cancel("x", "enough")),
      /enough|CANCEL/,
    ],
    ["the attempt is out of time", { timeoutMs: 50 }, (world) => world.pass(50), /EFFECT_TIMED_OUT/],
    [
      "the runtime closes",
      {},
      (world, { runtime }) => world.until(runtime.close({ deadlineMs: 0 })),
      /RUNTIME_CLOSED/,
    ],
  ])("signal: is aborted when %s", async (_when, task, end, reason) => {
    const reasons: string[] = [];
    const { world, process } = await act(
      (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            const error = signal.reason as HeddleError;
            reasons.push(`${error.code} ${error.message}`);
            reject(error);
          });
        }),
      { task },
    );
    await world.when(() => world.ran("act") === 1);
    expect(reasons).toEqual([]);
    await end(world, process);
    expect(reasons).toEqual([expect.stringMatching(reason)]);
  });

  it("emit: records at once, also when the attempt fails later on", async () => {
    const { world, process } = await act((_input, { emit }) => {
      emit("Moved", { cents: 5 });
      throw new Error("afterwards");
    });
    await process.finish("x");
    expect((await world.types()).slice(2)).toEqual(["Moved", "STEP_FAILED", "EXECUTION_FAILED"]);
  });
});

describe("retryMiddleware without options", () => {
  it("retries three times, doubling from 200 ms, each delay at most halved by jitter", async () => {
    const told: RetryEvent[] = [];
    const { world, process } = await act(
      () => {
        throw new Error("down");
      },
      { middleware: [retryMiddleware({ onRetry: (event) => void told.push(event) })] },
    );
    expect((await process.finish("x")).status).toBe("failed");
    expect(world.ran("act")).toBe(4);
    expect(told.map(({ failures }) => failures)).toEqual([1, 2, 3]);
    for (const [n, { delayMs }] of told.entries()) {
      expect(delayMs).toBeGreaterThanOrEqual(100 * 2 ** n);
      expect(delayMs).toBeLessThanOrEqual(200 * 2 ** n);
    }
    expect(new Set(told.map(({ delayMs }, n) => delayMs / 2 ** n)).size).toBeGreaterThan(1);
  });

  it("waits for at most 30 seconds", async () => {
    const told: number[] = [];
    const options = {
      maxRetries: 10,
      jitter: false,
      onRetry: ({ delayMs }: RetryEvent) => void told.push(delayMs),
    };
    const { process } = await act(
      () => {
        throw new Error("down");
      },
      { middleware: [retryMiddleware(options)] },
    );
    await process.finish("x");
    expect(told.slice(6)).toEqual([12_800, 25_600, 30_000, 30_000]);
  });
});

describe("what an effect fails with", () => {
  const refusing = (parts: Parameters<typeof ring>[0]): ProcessOptions => ({ middleware: ring(parts) });
  const stopped = new KillSwitch();
  void stopped.engage({ kind: "system" }, "drill");
  const twice: EffectMiddleware = async (_ctx, _input, next) => {
    await next();
    return next();
  };
  const done: Call = () => "done";

  // The code, how it comes about, how often the effect runs with two retries allowed, and how many attempts are made.
  it.each<[string, Call, Act, number, number]>([
    ["EFFECT_UNKNOWN", done, { task: { toolId: "nowhere" } }, 0, 1],
    ["EFFECT_DENIED", done, refusing({ authorizer: new GrantTable({}) }), 0, 1],
    [
      "EFFECT_DENIED",
      done,
      refusing({ authorizer: { authorize: () => Promise.resolve({ allowed: false, reason: "no" }) } }),
      0,
      1,
    ],
    ["EFFECT_STOPPED", done, refusing({ killSwitch: stopped }), 0, 1],
    ["EFFECT_MODE_VIOLATION", done, { effect: { mode: "ambient" } }, 0, 1],
    ["NEXT_MISUSED", done, { middleware: [twice] }, 1, 1],
    ["EFFECT_TIMED_OUT", never, { task: { timeoutMs: 10 } }, 3, 3],
    ["EFFECT_DEADLINE_EXCEEDED", never, { task: { deadlineMs: 10 } }, 1, 1],
    ["OUTPUT_INVALID", done, { task: { outputSchema: z.number() } }, 1, 1],
    ["VALUE_NOT_RECORDABLE", () => ({ cb: () => {} }), {}, 1, 1],
    ["VALUE_TOO_LARGE", () => "x".repeat(20_000_000), {}, 1, 1],
    ["TYPED_FAILURE", () => fail("drift", 1), { task: { errors: { drift: z.number() } } }, 1, 1],
    ["CHANNEL_REFUSED", () => fail("drift", 1), {}, 1, 1],
    [
      "an error that says so",
      () => {
        throw Object.assign(new Error("no"), { code: "an error that says so", retryable: false });
      },
      {},
      1,
      1,
    ],
    [
      "any other error",
      () => {
        throw Object.assign(new Error("no"), { code: "any other error" });
      },
      {},
      3,
      3,
    ],
  ])("%s", async (code, call, how, runs, attempts) => {
    const task = { ...how.task, retry: { maxAttempts: 3, baseDelayMs: 1 } };
    const { world, process } = await act(call, { ...how, task });
    const state = await process.finish("x");
    expect(state).toMatchObject({ status: "failed", error: { code } });
    expect(world.ran("act")).toBe(runs);
    expect(state.frames["act"]).toMatchObject({ status: "failed", attempts });
  });
});

describe("fail(channel, payload)", () => {
  const errors = { drift: z.object({ field: z.string() }) };

  it.each<[string, string, unknown, string | undefined]>([
    ["declared, and valid", "drift", { field: "price" }, undefined],
    ["a channel that is not declared", "gone", { field: "price" }, "it is not declared; declared are: drift"],
    ["a channel that every object has", "constructor", { field: "price" }, "it is not declared"],
    ["a payload that does not fit", "drift", { field: 7 }, "field"],
    ["a payload over 16 KiB", "drift", { field: "x".repeat(16_384) }, "16384"],
    ["what cannot be recorded, dropped by the schema", "drift", { field: "price", get: () => 1 }, undefined],
  ])("%s", async (_what, channel, payload, complaint) => {
    const { world, process } = await act(() => fail(channel, payload), { task: { errors } });
    const state = await process.finish("x");
    const failed = (await world.events()).find(({ type }) => type === "STEP_FAILED");
    if (complaint === undefined) {
      expect(state.error).toMatchObject({ code: "TYPED_FAILURE", channel });
      expect(failed?.payload).toMatchObject({ channel, payload: { field: "price" } });
    } else {
      expect(state.error).toMatchObject({
        code: "CHANNEL_REFUSED",
        message: expect.stringContaining(complaint) as string,
      });
      expect(failed?.payload).not.toHaveProperty("channel");
    }
  });

  it("is served from the log on replay", async () => {
    const { world, process, restart } = await act(() => fail("drift", { field: "price" }), {
      task: { errors },
    });
    const before = await process.finish("x");
    const after = await (await restart()).runtime.loadState("x");
    expect(after).toEqual(before);
    expect(world.ran("act")).toBe(1);
  });
});

describe("a verdict", () => {
  it("whose outcome does not fit the outputSchema is OUTPUT_INVALID, and the step stays in doubt", async () => {
    const { world, restart } = await act(never, {
      task: { idempotent: false, outputSchema: z.object({ receipt: z.string() }) },
    });
    await world.when(() => world.ran("act") === 1);
    const process = await restart();
    await world.settle();
    const decide = (outcome: unknown) => world.until(process.runtime.resolveInDoubt("x", "act", { outcome }));
    await expect(decide({ receipt: 7 })).rejects.toMatchObject({ code: "OUTPUT_INVALID" });
    expect((await process.runtime.loadState("x")).frames["act"]?.status).toBe("inDoubt");
    await decide({ receipt: "r-7" });
    expect((await process.finish("x")).variables["_output"]).toEqual({ receipt: "r-7" });
  });
});

describe("what survives a kill, on LMDB", () => {
  it("a denial, and a typed failure: the effect is not asked for again", async () => {
    let asked = 0;
    const authorizer = {
      authorize: () => {
        asked++;
        return { allowed: false } as const;
      },
    };
    const { world, process, restart } = await act(() => "done", {
      world: World.lmdb(),
      middleware: ring({ authorizer }),
    });
    const before = await process.finish("x");
    const again = await restart();
    await world.settle();
    expect(await again.runtime.loadState("x")).toEqual(before);
    expect(asked).toBe(1);
  });

  it("events that an attempt had emitted; the next attempt may emit them again", async () => {
    const { world, restart } = await act(
      (_input, { emit, attempt }) => {
        emit("Moved", { attempt });
        return attempt === 1 ? never() : "done";
      },
      { world: World.lmdb() },
    );
    await world.when(() => world.ran("act") === 1);
    await world.settle();
    const process = await restart();
    await process.finish("x");
    const moved = (await world.events()).filter(({ type }) => type === "Moved");
    expect(moved.map(({ payload }) => payload)).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  });

  it("not the wait of a sleep of one's own: the attempt was under way, and is made again at once", async () => {
    const at: number[] = [];
    const world = World.lmdb();
    const middleware = [retryMiddleware({ maxRetries: 5, sleep: (ms) => world.delay(ms * 1_000) })];
    const { restart } = await act(
      () => {
        at.push(world.clock.now);
        if (at.length === 1) throw new Error("down");
        return "done";
      },
      { world, middleware },
    );
    await world.when(() => world.ran("act") === 1);
    const process = await restart();
    expect(await process.finish("x")).toMatchObject({
      status: "completed",
      frames: { act: { attempts: 2 } },
    });
    expect(at[1]! - at[0]!).toBeLessThan(100_000);
  });

  it("not what middleware keeps in memory, nor an engaged kill switch: both are as they are built", async () => {
    const world = World.lmdb();
    const fresh = () => {
      const killSwitch = new KillSwitch();
      let calls = 0;
      const counting: EffectMiddleware = (_ctx, _input, next) => {
        calls++;
        return next();
      };
      return {
        killSwitch,
        calls: () => calls,
        options: { middleware: ring({ killSwitch, middleware: [counting] }) },
      };
    };
    const first = fresh();
    await act(never, { world, ...first.options });
    await world.when(() => world.ran("act") === 1);
    void first.killSwitch.engage({ kind: "system" }, "drill");
    expect(first.calls()).toBe(1);
    const second = fresh();
    const f = flow("f", (ctx) => ctx.execute({ id: "act" }, { n: 1 }));
    await world.process?.kill();
    const process = world.prepare([f], second.options);
    process.effects.register("act", new ToolEffect(() => "done"));
    await world.until(process.runtime.open());
    expect((await process.finish("x")).status).toBe("completed");
    expect([second.killSwitch.list(), second.calls()]).toEqual([[], 1]);
  });

  it("not an ambient call: nothing of it is in the log", async () => {
    const { world, process } = await act(() => "done", { world: World.lmdb() });
    await process.finish("x");
    const before = await world.events();
    expect(await process.effects.invokeTransient("act", 1)).toBe("done");
    expect(await world.events()).toEqual(before);
    expect(await process.runtime.list()).toHaveLength(1);
  });
});
