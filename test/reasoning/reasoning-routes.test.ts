// Routes as effects: each is under the ring by its own name, and keeps the reasoning of its own model.

import { describe, expect, it } from "vitest";
import { readReasoning, routeToolId } from "../../src/agent/index.js";
import { EffectRuntime, type ExecutionContext, GrantTable, MemoryContentStore } from "../../src/index.js";
import { type LlmResponse, scriptedProvider } from "../../src/llm/index.js";
import { ReasoningRuntime, registerReasoningRoutes, validatorConfidence } from "../../src/reasoning/index.js";
import { flow, openApp, within } from "../lifecycle/world.js";

const ASKED = { messages: [{ role: "user" as const, content: "?" }] };
const thinks = (content: string) =>
  scriptedProvider(() => ({
    content,
    reasoning: [{ kind: "reasoning", provider: "scripted", text: `thoughts on ${content}`, signature: "s" }],
  }));

function routed() {
  const [small, large] = [thinks("hm"), thinks("{}")];
  const runtime = new ReasoningRuntime({
    routes: [
      { id: "small", provider: small, tier: 0 },
      { id: "large", provider: large, tier: 1 },
    ],
    confidence: validatorConfidence((content) => content.startsWith("{")),
  });
  const asks = flow("asks", async (ctx: ExecutionContext) =>
    runtime.reason(ASKED, {
      decide: ctx.decide,
      call: (routeId, attempt) => {
        const toolId = routeToolId("reasoning", routeId);
        return ctx.execute<unknown, LlmResponse>({ id: `ask#${attempt}`, kind: "llm", toolId }, ASKED);
      },
    }),
  );
  return { runtime, asks };
}

describe("registerReasoningRoutes", () => {
  it("registers each route as a model effect of its own, whose reasoning is kept by route", async () => {
    const store = new MemoryContentStore({ now: () => 0 });
    const { runtime, asks } = routed();
    const app = openApp({
      flows: [asks],
      execution: {
        registerEffects: (effects) => registerReasoningRoutes(effects, runtime, { reasoning: { store } }),
      },
    });
    const result = await within(
      (await app.runtime.start(asks, 0, { executionId: "x" })).result(),
      "the answer",
    );
    expect(result).toMatchObject({ modelId: "large", content: "{}", elevated: true });
    expect(result.reasoning).toMatchObject([{ route: "large" }]);
    const kept = await readReasoning(app.stores.eventStore, store, { executionId: "x" });
    expect(kept.map(({ stepId, status }) => [stepId, status])).toEqual([
      ["ask#0", "ok"],
      ["ask#1", "ok"],
    ]);
  });

  it("a route that nobody may use is not asked", async () => {
    const { runtime, asks } = routed();
    const app = openApp({
      flows: [asks],
      security: { authorizer: new GrantTable({ ann: ["reasoning:small"] }) },
      execution: {
        registerEffects: (effects) => registerReasoningRoutes(effects, runtime, { reasoning: false }),
      },
    });
    const handle = await app.runtime.start(asks, 0, { principal: "ann" });
    await expect(within(handle.result(), "the denial")).rejects.toMatchObject({
      cause: { code: "EFFECT_DENIED", message: expect.stringContaining("reasoning:large") as string },
    });
  });

  it("takes another name, and refuses what a model effect refuses", () => {
    const { runtime } = routed();
    const effects = new EffectRuntime();
    registerReasoningRoutes(effects, runtime, { toolId: "brain" });
    expect([...effects.entries()].map(([id]) => id)).toEqual(["brain:small", "brain:large"]);
    expect(() => registerReasoningRoutes(effects, runtime, { toolId: "" })).toThrow(
      /toolId must not be empty/,
    );
    expect(() =>
      registerReasoningRoutes(new EffectRuntime(), runtime, { stream: false, onDelta: () => 0 }),
    ).toThrow(/leave stream: false out/);
  });
});
