// Loops over several models: who answers a turn is chosen and recorded, through the ring or without it, and a resumed run asks nobody
// for a turn that is done.

import { describe, expect, it } from "vitest";
import {
  type AgentLoopConfig,
  AgentLoopConfigError,
  agentLoop$,
  pendingCalls,
  readTurnRequest,
} from "../../src/agent/index.js";
import { agent$, type ExecutionContext, GrantTable, type LoomConfig, ToolEffect } from "../../src/index.js";
import { type ScriptedAnswer, type ScriptedProvider, scriptedProvider } from "../../src/llm/index.js";
import { ReasoningRuntime, registerReasoningRoutes, validatorConfidence } from "../../src/reasoning/index.js";
import { flow, latch, openApp, temporaryDirectory, within } from "../lifecycle/world.js";
import { anyTool } from "../support/agents.js";

const CALL: ScriptedAnswer = { content: "sure", toolCalls: [{ id: "c1", name: "look", input: {} }] };
const definition = agent$({ id: "a", tools: [anyTool("look")] });
const capabilities = { tools: true };

/** A small model that is never trusted with an answer, and a large one that is. */
class Models {
  readonly small: ScriptedProvider;
  readonly large: ScriptedProvider;
  readonly runtime: ReasoningRuntime;

  constructor(small: readonly ScriptedAnswer[], large: readonly ScriptedAnswer[]) {
    this.small = scriptedProvider(small, { id: "small", capabilities, strict: true });
    this.large = scriptedProvider(large, { id: "large", capabilities, strict: true });
    this.runtime = new ReasoningRuntime({
      routes: [
        { id: "small", provider: this.small, tier: 0 },
        { id: "large", provider: this.large, tier: 1 },
      ],
      confidence: validatorConfidence((content) => content.startsWith("sure")),
    });
  }

  get asked(): readonly [small: number, large: number] {
    return [this.small.requests.length, this.large.requests.length];
  }
}

function app(
  models: Models,
  config: Partial<AgentLoopConfig>,
  options: Partial<LoomConfig> & { dir?: string } = {},
) {
  const asks = flow("asks", async (ctx: ExecutionContext) => {
    const result = await agentLoop$(
      ctx,
      { definition, reasoning: models.runtime, ...config },
      { prompt: "go" },
    );
    await ctx.suspend({ on: "more" });
    return result;
  });
  const opened = openApp({
    ...options,
    flows: [asks],
    execution: {
      registerEffects: (effects) => {
        registerReasoningRoutes(effects, models.runtime);
        effects.register("look", new ToolEffect(() => "seen"));
      },
    },
  });
  return { app: opened, asks };
}

const WAYS = [
  ["through the ring", { reasoningToolId: "reasoning" }],
  ["directly", {}],
] as const;

describe.each(WAYS)("a turn that is routed %s", (_, config) => {
  it("is answered by the cheapest model that is trusted, and a resumed run asks nobody again", async () => {
    const dir = temporaryDirectory();
    const models = new Models([CALL, "hm"], ["sure, it is done"]);
    const first = app(models, config, { dir });
    const handle = await first.app.runtime.start(first.asks, 0, { executionId: "x" });
    await within(handle.waitForSuspend(), "the gate");
    expect(models.asked).toEqual([2, 1]);
    expect(models.large.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    await first.app.close();

    const silent = new Models([], []);
    const second = app(silent, config, { dir });
    await second.app.start();
    await second.app.runtime.resume("x", { eventType: "more" });
    expect(await within(second.app.runtime.handle("x").result(), "the answer")).toMatchObject({
      content: "sure, it is done",
      iterations: 2,
      toolCallLog: [{ name: "look", result: "seen" }],
    });
    expect(silent.asked).toEqual([0, 0]);
  });
});

describe.each(WAYS)("a call that a routed model made %s", (_, config) => {
  it("is shown to whoever has to approve it", async () => {
    const models = new Models(["hm"], [CALL, "sure"]);
    const { app: opened, asks } = app(models, { ...config, needsApproval: () => true });
    const handle = await opened.runtime.start(asks, 0, { executionId: "x" });
    await within(handle.waitForSuspend(), "the gate");
    const pending = pendingCalls(await opened.runtime.loadState("x"));
    expect(pending).toMatchObject([{ name: "look", input: {}, loopId: "agent:a", turn: 0 }]);
  });
});

describe("through the ring", () => {
  it("every call is a step of its own name, by the effect of its route", async () => {
    const models = new Models(["hm", "hm"], [CALL, "sure"]);
    const { app: opened, asks } = app(models, { reasoningToolId: "reasoning" });
    const handle = await opened.runtime.start(asks, 0, { executionId: "x" });
    await within(handle.waitForSuspend(), "the gate");
    const log = await opened.stores.eventStore.read("x");
    const named = log.map(({ type, payload }) => {
      const { stepId, decisionId } = payload as { stepId?: string; decisionId?: string };
      return `${type} ${stepId ?? decisionId ?? ""}`;
    });
    expect(named.filter((name) => name.includes("#turn:0")).slice(0, 7)).toEqual([
      "DECISION_RECORDED agent:a#turn:0:route",
      "STEP_STARTED agent:a#turn:0",
      "STEP_COMPLETED agent:a#turn:0",
      "DECISION_RECORDED agent:a#turn:0:verdict:0",
      "STEP_STARTED agent:a#turn:0:tier:1",
      "STEP_COMPLETED agent:a#turn:0:tier:1",
      "DECISION_RECORDED agent:a#turn:0:verdict:1",
    ]);
    expect(models.large.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    for (const [turn, request] of models.large.requests.entries())
      expect(readTurnRequest(log, `agent:a#turn:${turn}:tier:1`)).toEqual(request);
  });

  it("a route that the caller may not use ends the agent", async () => {
    const models = new Models(["hm"], ["sure"]);
    const authorizer = new GrantTable({ ann: ["reasoning:small", "look"] });
    const { app: opened, asks } = app(models, { reasoningToolId: "reasoning" }, { security: { authorizer } });
    const handle = await opened.runtime.start(asks, 0, { principal: "ann" });
    await expect(within(handle.result(), "the denial")).rejects.toMatchObject({
      cause: { code: "EFFECT_DENIED" },
    });
    expect(models.asked).toEqual([1, 0]);
  });
});

describe("directly", () => {
  const thinking = () => {
    const provider = scriptedProvider(["sure"], { id: "deep", capabilities: { reasoning: true } });
    return { runtime: new ReasoningRuntime({ routes: [{ id: "thinker", provider, tier: 0 }] }) } as Models;
  };

  it("warns once of a route whose reasoning is dropped each turn", async () => {
    const warnings: string[] = [];
    const models = thinking();
    const onWarn = (message: string): void => void warnings.push(message);
    for (let i = 0; i < 2; i++) {
      const { app: opened, asks } = app(models, { onWarn });
      const handle = await opened.runtime.start(asks, 0);
      await within(handle.settled(), "the end");
    }
    expect(warnings).toEqual([expect.stringMatching(/LOOM_AGENT_REASONING_DISCARDED.*route thinker/)]);
  });

  it("is refused where reasoning may not be dropped", async () => {
    const { app: opened, asks } = app(thinking(), { requireReasoningContinuation: true });
    const handle = await opened.runtime.start(asks, 0);
    await expect(within(handle.result(), "the refusal")).rejects.toMatchObject({
      cause: { name: "AgentLoopConfigError", message: expect.stringContaining("route thinker") as string },
    });
  });

  it("an agent that is stopped while a model writes was interrupted, also when it is replayed", async () => {
    const dir = temporaryDirectory();
    const asked = latch();
    const stuck = scriptedProvider(
      () => {
        asked.open();
        return { content: "sure", delayMs: 3_600_000 };
      },
      { capabilities },
    );
    const reasoning = new ReasoningRuntime({ routes: [{ id: "only", provider: stuck, tier: 0 }] });
    const stops = (signal: AbortSignal) =>
      flow("stops", async (ctx: ExecutionContext) => {
        const outcome: unknown = await agentLoop$(ctx, { definition, reasoning, signal }).catch(
          (error: unknown) => (error as { channel?: string }).channel,
        );
        await ctx.suspend({ on: "more" });
        return outcome;
      });
    const stop = new AbortController();
    const asks = stops(stop.signal);
    const app = openApp({ dir, flows: [asks] });
    const handle = await app.runtime.start(asks, 0, { executionId: "x" });
    await within(asked.opened, "the model is asked");
    stop.abort(new Error("barge-in"));
    await within(handle.waitForSuspend(), "the gate");
    await app.close();
    const again = openApp({ dir, flows: [stops(new AbortController().signal)] });
    await again.start();
    await again.runtime.resume("x", { eventType: "more" });
    expect(await within(again.runtime.handle("x").result(), "the outcome")).toBe("agentInterrupted");
  });
});

describe("a configuration", () => {
  it.each<[string, RegExp, Partial<AgentLoopConfig>]>([
    ["both", /reasoning goes without modelToolId/, { modelToolId: "model" }],
    ["no runtime", /reasoning must be a ReasoningRuntime/, { reasoning: {} as never }],
    [
      "routes of nothing",
      /reasoningToolId names the routes/,
      { reasoning: undefined as never, reasoningToolId: "r" },
    ],
    [
      "a time limit without a step",
      /turnTimeoutMs is for a model that is asked in a step/,
      { turnTimeoutMs: 5 },
    ],
  ])("with %s is refused", async (_, message, config) => {
    const ctx = {} as ExecutionContext;
    const loop = agentLoop$(ctx, { definition, reasoning: new Models([], []).runtime, ...config });
    await expect(loop).rejects.toThrow(message);
    await expect(loop).rejects.toBeInstanceOf(AgentLoopConfigError);
  });
});
