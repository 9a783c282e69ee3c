import { describe, expect, it } from "vitest";
import { z } from "zod";
import { EffectRuntime, ToolEffect } from "../../src/effects/index.js";
import { EffectModeViolationError, tool$ } from "../../src/kernel/index.js";
import { retryMiddleware } from "../../src/middleware/index.js";
import { flow, World } from "../support/world.js";

const anything = z.unknown();
const double = (input: unknown): number => (input as number) * 2;
const tool = (id: string, mode?: "journaled" | "ambient") =>
  tool$({
    id,
    name: id,
    description: id,
    inputSchema: anything,
    outputSchema: anything,
    ...(mode && { mode }),
  });

async function execute(declared: ReturnType<typeof tool>, mode?: "journaled" | "ambient") {
  const world = World.memory();
  const f = flow("f", (ctx) => ctx.execute(declared, 21));
  const process = world.prepare([f]);
  process.effects.register(declared.id, new ToolEffect(double, mode ? { mode } : {}));
  await world.until(process.runtime.open());
  await process.start(f, null);
  return { world, state: await process.finish("x") };
}

describe("an effect inside an execution", () => {
  it.each([[undefined], ["journaled"]] as const)("runs when it is declared %s", async (mode) => {
    const { state } = await execute(tool("page", mode), mode);
    expect(state).toMatchObject({ status: "completed", variables: { _output: 42 } });
  });

  it("is refused by its tool's declaration, before anything is recorded of it", async () => {
    const { world, state } = await execute(tool("page", "ambient"), "ambient");
    expect(state.error).toMatchObject({ code: "EFFECT_MODE_VIOLATION", details: { effectId: "page" } });
    expect(await world.types()).not.toContain("STEP_STARTED");
  });

  it("is refused by the effect's own declaration, whatever the tool forgot to say", async () => {
    const { world, state } = await execute(tool("page"), "ambient");
    expect(state.error).toMatchObject({ code: "EFFECT_MODE_VIOLATION" });
    expect(await world.types()).toContain("STEP_FAILED");
  });
});

describe("invokeTransient", () => {
  it("runs what is undeclared or ambient, with the middleware around it", async () => {
    const seen: string[] = [];
    const effects = new EffectRuntime([
      async (ctx, input, next) => {
        seen.push(`${ctx.toolId} ${ctx.executionId} ${String(input)}`);
        return next();
      },
    ]);
    effects.register("plain", new ToolEffect(double));
    effects.register("page", new ToolEffect(async (input) => double(input), { mode: "ambient" }));
    expect(await effects.invokeTransient("plain", 4)).toBe(8);
    expect(await effects.invokeTransient<number>("page", 5)).toBe(10);
    expect(seen).toEqual(["plain transient 4", "page transient 5"]);
  });

  it("refuses what is journaled, and what is not there, by rejecting", async () => {
    const effects = new EffectRuntime();
    let calls = 0;
    effects.register("fact", new ToolEffect(() => ++calls, { mode: "journaled" }));
    await expect(effects.invokeTransient("fact", 1)).rejects.toBeInstanceOf(EffectModeViolationError);
    await expect(effects.invokeTransient("fact", 1)).rejects.toMatchObject({ code: "EFFECT_MODE_VIOLATION" });
    await expect(effects.invokeTransient("none", 1)).rejects.toMatchObject({ code: "EFFECT_UNKNOWN" });
    expect(calls).toBe(0);
  });

  it("goes by the door, not by what a context says", async () => {
    const world = World.memory();
    const effects = new EffectRuntime();
    const page = new ToolEffect(double, { mode: "ambient" });
    effects.register("page", page);
    // A flow that hands its effect a context that looks transient is still inside an execution.
    const f = flow("f", (ctx) =>
      ctx.execute(Object.assign({ ...tool("page") }, { executionId: "transient" }), 1),
    );
    const process = world.prepare([f]);
    process.effects.register("page", page);
    await world.until(process.runtime.open());
    await process.start(f, null);
    expect((await process.finish("x")).error).toMatchObject({ code: "EFFECT_MODE_VIOLATION" });
  });

  it("hands over signal and emit, and gives what the effect throws, synchronously or not", async () => {
    const effects = new EffectRuntime();
    const controller = new AbortController();
    const emitted: unknown[] = [];
    effects.register(
      "tell",
      new ToolEffect((_input, ctx) => {
        ctx.emit("told", 1);
        return ctx.signal === controller.signal;
      }),
    );
    effects.register(
      "throws",
      new ToolEffect(() => {
        throw new Error("at once");
      }),
    );
    const emit = (type: string, payload: unknown): void => void emitted.push([type, payload]);
    expect(await effects.invokeTransient("tell", 1, { signal: controller.signal, emit })).toBe(true);
    expect(emitted).toEqual([["told", 1]]);
    await expect(effects.invokeTransient("throws", 1)).rejects.toThrow("at once");
  });

  it("lets a retry wait in place", async () => {
    const slept: number[] = [];
    const effects = new EffectRuntime([
      retryMiddleware({ jitter: false, sleep: async (ms) => void slept.push(ms) }),
    ]);
    let calls = 0;
    effects.register(
      "flaky",
      new ToolEffect(() => {
        if (++calls < 3) throw new Error("down");
        return calls;
      }),
    );
    expect(await effects.invokeTransient("flaky", 1)).toBe(3);
    expect(slept).toEqual([200, 400]);
  });
});
