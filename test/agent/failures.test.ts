// What fails while an agent works: which failures its model is told of, and which are nobody's to act on but the program's.

import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AgentLoopConfig } from "../../src/agent/index.js";
import { agent$, HeddleError, type HeddleErrorCode, TypedFailure } from "../../src/kernel/index.js";
import { AgentStage, anyTool, call, calls, ScriptedModel, says, type ToolRuns } from "../support/agents.js";
import { latch } from "../support/latch.js";
import { untilAborted, World } from "../support/world.js";

function staged(tools: ToolRuns, config: Partial<AgentLoopConfig> = {}, world = World.memory()) {
  const ids = Object.keys(tools);
  const model = new ScriptedModel([calls(...ids.map((id, n) => call(`c${n}`, id))), says("done")]);
  return { model, world, stage: new AgentStage(world, { model, tools, config }) };
}

const boom = () => {
  throw new Error("disk on fire");
};

describe("a tool that fails", () => {
  test("is an error result, its siblings run, and the run goes on", async () => {
    const { model, stage } = staged({ first: boom, second: () => 2 });
    const state = await stage.run();
    expect(model.results()).toEqual([
      '{"tool":"first","error":"disk on fire","code":"failed"}',
      '{"tool":"second","result":2}',
    ]);
    expect(model.messages(-1).at(-2)).toMatchObject({ isError: true });
    expect(state.variables["_output"]).toMatchObject({
      content: "done",
      toolCallLog: [{ ran: true, error: { code: "failed", message: "disk on fire" } }, { result: 2 }],
    });
  });

  test('fails the agent with toolErrors: "fail"', async () => {
    const { model, stage } = staged({ first: boom, second: () => 2 }, { toolErrors: "fail" });
    expect((await stage.run()).error).toMatchObject({ message: "disk on fire" });
    expect(model.asked).toBe(1);
  });

  test("on a channel it declared, tells the model which and with what", async () => {
    const tool = anyTool("find", { errors: { notFound: z.object({ id: z.number() }) } });
    const find = () => {
      throw new TypedFailure("notFound", { id: 7 });
    };
    const { model, stage } = staged({ find }, { definition: agent$({ id: "a", tools: [tool] }) });
    await stage.run();
    expect(JSON.parse(model.results()[0]!)).toMatchObject({ channel: "notFound", payload: { id: 7 } });
  });

  test("with a message of a megabyte is told shortly", async () => {
    const { model, stage } = staged({
      long: () => {
        throw new Error("x".repeat(1_000_000));
      },
    });
    await stage.run();
    expect(model.results()[0]!.length).toBeLessThan(5_000);
  });

  test("and throws what is no error, is told too", async () => {
    const { model, stage } = staged({
      odd: () => {
        // oxlint-disable-next-line typescript/only-throw-error
        throw "just so";
      },
    });
    await stage.run();
    expect(model.results()[0]).toContain("just so");
  });

  test("is tried again as its retry policy says before its model hears of it", async () => {
    const tool = anyTool("flaky", { retry: { maxAttempts: 3, baseDelayMs: 1 } });
    let count = 0;
    const flaky = () => (++count < 3 ? boom() : "at last");
    const { model, stage } = staged({ flaky }, { definition: agent$({ id: "a", tools: [tool] }) });
    await stage.run();
    expect(model.results()).toEqual(['{"tool":"flaky","result":"at last"}']);
  });

  const FINAL: HeddleErrorCode[] = [
    "EFFECT_DENIED",
    "EFFECT_STOPPED",
    "QUOTA_EXCEEDED",
    "SECRET_UNRESOLVED",
    "CONFIG_INVALID",
  ];
  test.each(FINAL)("with %s ends the agent: no model hears of it", async (code) => {
    for (const parallelTools of [false, true]) {
      const { model, stage } = staged(
        {
          denied: () => {
            throw new HeddleError(code, "no");
          },
          other: () => 1,
        },
        { parallelTools },
      );
      expect((await stage.run()).error).toMatchObject({ code });
      expect(model.asked).toBe(1);
    }
  });

  test("with another system's CANCELLED is a failure like any other", async () => {
    const { model, stage } = staged({
      rpc: () => {
        throw Object.assign(new Error("1 CANCELLED"), { code: "CANCELLED" });
      },
    });
    await stage.run();
    expect(model.results()[0]).toContain("1 CANCELLED");
  });

  test("a cancellation of the execution ends the agent while a tool runs, and no model hears of it", async () => {
    const { model, stage, world } = staged({ slow: (_, { signal }) => untilAborted(signal) });
    const process = await stage.start();
    await world.when(() => world.runs.size === 1);
    await world.until(process.runtime.cancel("x", "enough"));
    expect((await process.finish("x")).status).toBe("cancelled");
    expect(model.asked).toBe(1);
  });

  test("one that may not be repeated and may have run parks in doubt, and its model hears what somebody says of it", async () => {
    const tool = anyTool("pay", { idempotent: false });
    const world = World.lmdb();
    const dead = latch();
    const pay = () => {
      dead.open();
      return new Promise(() => {});
    };
    const { model, stage } = staged({ pay }, { definition: agent$({ id: "a", tools: [tool] }) }, world);
    await stage.start();
    await world.until(dead.opened);
    const process = await stage.open();
    await world.until(process.runtime.handle("x").waitForSuspend());
    expect(world.runs).toEqual(new Map([["x/agent:a#turn:0:tool:0", 1]]));
    await world.until(process.runtime.resolveInDoubt("x", "agent:a#turn:0:tool:0", { outcome: "paid" }));
    expect((await process.finish("x")).status).toBe("completed");
    expect(model.results()).toEqual(['{"tool":"pay","result":"paid"}']);
    expect(world.ran("agent:a#turn:0:tool:0")).toBe(1);
  });
});

describe("time limits", () => {
  const slow = (_: never, { signal }: { signal: AbortSignal }) => untilAborted(signal);

  test("a tool over toolTimeoutMs is an error result", async () => {
    const { model, stage } = staged({ slow, quick: () => 1 }, { toolTimeoutMs: 50 });
    const state = await stage.run();
    expect(JSON.parse(model.results()[0]!)).toMatchObject({ tool: "slow", code: "timedOut" });
    expect(state.variables["_output"]).toMatchObject({
      toolCallLog: [{ ran: true, error: { code: "timedOut" } }, { result: 1 }],
    });
  });

  test("a tool's own limit holds where it is shorter", async () => {
    const definition = agent$({ id: "a", tools: [anyTool("slow", { timeoutMs: 10 })] });
    const { model, stage, world } = staged({ slow }, { toolTimeoutMs: 100_000, definition });
    const before = world.clock.now;
    await stage.run();
    expect(world.clock.now - before).toBeLessThan(1_000);
    expect(model.results()[0]).toContain("10 ms");
  });

  test("a model over turnTimeoutMs fails the agent", async () => {
    const model = new ScriptedModel((_, __, { signal }) => untilAborted(signal));
    const state = await new AgentStage(World.memory(), { model, config: { turnTimeoutMs: 50 } }).run();
    expect(state.error).toMatchObject({ code: "EFFECT_TIMED_OUT" });
  });
});

describe("parallelTools", () => {
  /** How many run at once at most. */
  function gauge(world: World) {
    let running = 0;
    const seen = { most: 0 };
    const run = async ({ n }: { n: number }) => {
      seen.most = Math.max(seen.most, ++running);
      await world.delay(100 - n);
      running--;
      return n;
    };
    return { seen, run };
  }

  test.each([
    [false, 1],
    [2, 2],
    [true, 6],
  ])("%s: at most %i at once, and the results are in the order of the calls", async (parallelTools, most) => {
    const world = World.memory();
    const { seen, run } = gauge(world);
    const six = [0, 1, 2, 3, 4, 5];
    const model = new ScriptedModel([calls(...six.map((n) => call(`c${n}`, "wait", { n }))), says("done")]);
    const stage = new AgentStage(world, { model, tools: { wait: run }, config: { parallelTools } });
    const state = await stage.run();
    expect(seen.most).toBe(most);
    expect(model.results()).toEqual(six.map((n) => `{"tool":"wait","result":${n}}`));
    expect(Object.keys(state.frames)).toEqual([
      "agent:a#turn:0",
      ...six.map((n) => `agent:a#turn:0:tool:${n}`),
      "agent:a#turn:1",
    ]);
  });
});
