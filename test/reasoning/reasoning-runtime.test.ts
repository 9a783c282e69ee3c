// Which of several models is asked, when a stronger one is, and that a replay goes the way that was gone.

import { describe, expect, it } from "vitest";
import type { ExecutionContext, HeddleError } from "../../src/index.js";
import { type LlmProvider, type LlmResponse, scriptedProvider } from "../../src/llm/index.js";
import {
  constantConfidence,
  ReasoningRuntime,
  type ReasoningRuntimeOptions,
  stopReasonConfidence,
  tagRouter,
  validatorConfidence,
} from "../../src/reasoning/index.js";
import { flow, openApp, temporaryDirectory, within } from "../lifecycle/world.js";

const ASKED = { messages: [{ role: "user" as const, content: "a plan, as JSON" }] };
const isJson = validatorConfidence((content) => content.trim().startsWith("{"));

/** Answers always the same, and counts how often it is asked. */
function model(content: string, usage = { inputTokens: 10, outputTokens: 1 }) {
  const provider = scriptedProvider(() => ({ content, usage }));
  return Object.assign(provider, { asked: () => provider.requests.length });
}

function ladder(options: Partial<ReasoningRuntimeOptions> = {}) {
  const [small, middle, large] = [model("well, hm"), model("{ almost"), model("{}")];
  const runtime = new ReasoningRuntime({
    routes: [
      { id: "large", provider: large, tier: 2 },
      { id: "small", provider: small, tier: 0 },
      { id: "middle", provider: middle, tier: 1 },
    ],
    confidence: isJson,
    ...options,
  });
  return { runtime, small, middle, large };
}

describe("ReasoningRuntime", () => {
  it("asks the cheapest first and climbs while the answer is not to be trusted", async () => {
    const { runtime, small, middle, large } = ladder();
    const result = await runtime.reason(ASKED);
    expect(result).toMatchObject({ content: "{ almost", modelId: "middle", elevated: true });
    expect(result.trace).toEqual([
      { modelId: "small", tier: 0, confidence: 0, elevated: false },
      { modelId: "middle", tier: 1, confidence: 1, elevated: true },
    ]);
    expect(result.usage).toEqual({ inputTokens: 20, outputTokens: 2 });
    expect([small.asked(), middle.asked(), large.asked()]).toEqual([1, 1, 0]);
  });

  it("climbs no higher than maxTier, and takes what there is", async () => {
    const { runtime, middle } = ladder();
    const result = await runtime.reason({ ...ASKED, maxTier: 0 });
    expect(result).toMatchObject({ content: "well, hm", modelId: "small", elevated: false });
    expect(middle.asked()).toBe(0);
    await expect(runtime.reason({ ...ASKED, maxTier: -1 })).rejects.toThrow(/maxTier must be at least 0/);
  });

  it("tells models nothing of strategies and tiers", async () => {
    const { runtime, small } = ladder();
    await runtime.reason({ ...ASKED, system: "Plan.", strategy: "planning", maxTier: 0 });
    expect(Object.keys(small.requests[0]!).toSorted()).toEqual(["messages", "system"]);
  });

  it("asks routes for the strategy before others, on every rung", async () => {
    const [poet, planner, sage, expert] = [model("no"), model("no"), model("no"), model("{}")];
    const runtime = new ReasoningRuntime({
      routes: [
        { id: "poet", provider: poet, tier: 0, tags: ["prose"] },
        { id: "planner", provider: planner, tier: 1, tags: ["planning"] },
        { id: "sage", provider: sage, tier: 2, tags: ["prose"] },
        { id: "expert", provider: expert, tier: 3, tags: ["planning"] },
      ],
      confidence: isJson,
    });
    const { trace } = await runtime.reason({ ...ASKED, strategy: "planning" });
    expect(trace.map(({ modelId }) => modelId)).toEqual(["planner", "expert"]);
    const other = await runtime.reason({ ...ASKED, strategy: "algebra", maxTier: 0 });
    expect(other.modelId).toBe("poet"); // nobody is for it, so whoever is cheapest
  });

  it("takes another router and another threshold", async () => {
    const { runtime } = ladder({ router: (_, routes) => routes.at(-1)! });
    expect((await runtime.reason(ASKED)).modelId).toBe("large");
    const lax = ladder({ confidence: constantConfidence(0.4), elevateThreshold: 0.4 });
    expect((await lax.runtime.reason(ASKED)).modelId).toBe("small");
    const strict = ladder({ confidence: constantConfidence(0.4), elevateThreshold: 0.5 });
    expect((await strict.runtime.reason(ASKED)).modelId).toBe("large");
  });

  it.each<[string, Partial<LlmResponse>, number]>([
    ["an answer", { content: "x", stopReason: "end" }, 1],
    ["a call of a tool", { toolCalls: [{ id: "1", name: "t", input: {} }], stopReason: "toolUse" }, 1],
    ["an answer that was cut off", { content: "x", stopReason: "maxTokens" }, 0.25],
    ["an unknown end", { content: "x", stopReason: "other" }, 0.5],
    ["a filtered answer", { content: "x", stopReason: "contentFilter" }, 0],
    ["nothing", { content: " ", stopReason: "end" }, 0],
  ])("stopReasonConfidence trusts %s as it should", (_, response, confidence) => {
    expect(stopReasonConfidence({ content: "", stopReason: "end", ...response }, ASKED)).toBe(confidence);
  });

  it("guards a direct call at the prompt boundary", async () => {
    const { runtime, small } = ladder();
    const orphan = { role: "tool" as const, toolCallId: "none", content: "x" };
    await expect(runtime.reason({ messages: [orphan as never] })).rejects.toMatchObject({
      code: "LLM_PROMPT_INVALID",
    });
    expect(small.asked()).toBe(0);
  });

  it.each<[RegExp, unknown]>([
    [/routes must be a list of at least one route/, {}],
    [/routes must be a list of at least one route/, { routes: [] }],
    [/routes\[0\]\.id must not be empty/, { routes: [{ id: "" }] }],
    [/routes\[0\]\.provider must be an LlmProvider/, { routes: [{ id: "a", tier: 0, provider: {} }] }],
    [/routes\[0\]\.tier must be a number/, { routes: [{ id: "a", provider: model("") }] }],
    [/routes\[0\]\.tags must be a list/, { routes: [{ id: "a", tier: 0, provider: model(""), tags: "x" }] }],
    [/elevateThreshold must be a number from 0 to 1/, { ...routesOf(model("")), elevateThreshold: 2 }],
    [/router must be a function/, { ...routesOf(model("")), router: "tags" }],
    [/confidence must be a function/, { ...routesOf(model("")), confidence: 0.5 }],
  ])("%s", (message, options) => {
    expect(() => new ReasoningRuntime(options as ReasoningRuntimeOptions)).toThrow(message);
  });

  it("refuses two routes of one name, and what routers and signals may not give", async () => {
    const [route] = routesOf(model("x")).routes;
    expect(() => new ReasoningRuntime({ routes: [route!, { ...route! }] })).toThrow(
      /another route is named only/,
    );
    const stray = ladder({ router: () => ({ ...route! }) });
    await expect(stray.runtime.reason(ASKED)).rejects.toThrow(
      /router must give one of the routes it is shown/,
    );
    const odd = ladder({ confidence: () => Number.NaN });
    await expect(odd.runtime.reason(ASKED)).rejects.toThrow(
      /confidence must be a number from 0 to 1, not NaN/,
    );
    expect(() => constantConfidence(-1)).toThrow(/from 0 to 1/);
    expect(tagRouter(ASKED, [route!])).toBe(route);
  });
});

function routesOf(provider: LlmProvider) {
  return { routes: [{ id: "only", provider, tier: 0 }] };
}

describe("in a flow", () => {
  const askThenWait = (runtime: ReasoningRuntime) =>
    flow("asks", async (ctx: ExecutionContext) => {
      const before = await runtime.reason({ ...ASKED, strategy: "planning" }, { decide: ctx.decide });
      await ctx.suspend({ on: "go" });
      return { modelId: before.modelId, content: before.content, trace: before.trace };
    });

  it("every route and every elevation is a decision, and a replay asks nobody again", async () => {
    const dir = temporaryDirectory();
    const first = ladder();
    const asks = askThenWait(first.runtime);
    const app = openApp({ dir, flows: [asks] });
    const handle = await app.runtime.start(asks, 0, {
      executionId: "x",
    });
    await within(handle.waitForSuspend(), "the gate");
    const decided = (await app.stores.eventStore.read("x")).filter(
      ({ type }) => type === "DECISION_RECORDED",
    );
    expect(decided.map(({ payload }) => payload)).toMatchObject([
      { decisionId: "reasoning:route", choice: { modelId: "small", tier: 0 }, source: "reasoning-runtime" },
      { decisionId: "reasoning:answer:0", choice: { confidence: 0, next: { modelId: "middle", tier: 1 } } },
      { decisionId: "reasoning:answer:1", choice: { confidence: 1, next: null } },
    ]);
    await app.close();

    // By now everything would be decided another way, and a route is gone.
    const later = new ReasoningRuntime({
      routes: [{ id: "other", provider: model("other"), tier: 5 }],
      confidence: constantConfidence(0),
    });
    const again = openApp({ dir, flows: [askThenWait(later)] });
    await again.start();
    await again.runtime.resume("x", { eventType: "go" });
    expect(await within(again.runtime.handle("x").result(), "the answer")).toEqual({
      modelId: "middle",
      content: "{ almost",
      trace: [
        { modelId: "small", tier: 0, confidence: 0, elevated: false },
        { modelId: "middle", tier: 1, confidence: 1, elevated: true },
      ],
    });
    expect((later.routes[0]!.provider as ReturnType<typeof model>).asked()).toBe(0);
  });

  it("keeps nothing of a model's reasoning when it is called directly", async () => {
    const thinking = scriptedProvider(() => ({
      content: "{}",
      reasoning: [{ kind: "reasoning", provider: "scripted", text: "private thoughts", signature: "s" }],
    }));
    const runtime = new ReasoningRuntime(routesOf(thinking));
    const asks = askThenWait(runtime);
    const app = openApp({ flows: [asks] });
    const handle = await app.runtime.start(asks, 0, { executionId: "x" });
    await within(handle.waitForSuspend(), "the gate");
    expect(JSON.stringify(await app.stores.eventStore.read("x"))).not.toContain("private thoughts");
  });

  it("a recorded route that is gone and has yet to answer is an error that names it", async () => {
    const runtime = new ReasoningRuntime(routesOf(model("{}")));
    const served: ExecutionContext["decide"] = async (decisionId, decider) =>
      decisionId.endsWith(":route")
        ? ({ modelId: "gone", tier: 1 } as never)
        : decider({ executionId: "x", decisionId });
    const error = await runtime.reason(ASKED, { decide: served }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", details: { modelId: "gone" } });
    expect((error as HeddleError).message).toMatch(/Route gone was chosen by an earlier run/);
  });

  it("asks through a call it is given, and decides only who and whether", async () => {
    const { runtime, small } = ladder();
    const calls: [string, number][] = [];
    const decided: string[] = [];
    const result = await runtime.reason(ASKED, {
      id: "turn",
      decide: async (decisionId, decider) => {
        decided.push(decisionId);
        return decider({ executionId: "x", decisionId });
      },
      call: async (routeId, attempt) => {
        calls.push([routeId, attempt]);
        return { content: attempt === 0 ? "hm" : "{}", stopReason: "end" };
      },
    });
    expect(calls).toEqual([
      ["small", 0],
      ["middle", 1],
    ]);
    expect(decided).toEqual(["turn:route", "turn:verdict:0", "turn:verdict:1"]);
    expect(result).toMatchObject({ modelId: "middle", attempt: 1, content: "{}" });
    expect(small.asked()).toBe(0);
  });
});
