// observability.reasoning: one line keeps what the models of all agents think. What is dropped unsaid is warned of.

import { describe, expect, it } from "vitest";
import { createAgentModelEffect, readReasoning } from "../../src/agent/index.js";
import {
  defineConfig,
  type LoomConfig,
  MemoryContentStore,
  type ReasoningConfig,
  ToolEffect,
} from "../../src/index.js";
import { scriptedProvider } from "../../src/llm/index.js";
import { flow, openApp, temporaryDirectory, within } from "../lifecycle/world.js";

const thinks = () =>
  scriptedProvider(() => ({
    content: "42",
    reasoning: [{ kind: "reasoning", provider: "scripted", text: "six times seven", signature: "s" }],
  }));
const asks = flow("asks", async (ctx) =>
  ctx.execute({ id: "ask", kind: "llm", toolId: "model" }, { messages: [{ role: "user", content: "?" }] }),
);

async function run(reasoning: ReasoningConfig | undefined, dir?: string) {
  const warnings: string[] = [];
  const app = openApp({
    ...(dir !== undefined && { dir }),
    flows: [asks],
    observability: { reasoning, onWarn: (message) => void warnings.push(message) },
    execution: { registerEffects: (effects) => effects.register("model", createAgentModelEffect(thinks())) },
  });
  await within((await app.runtime.start(asks, 0, { executionId: "x" })).result(), "the answer");
  return { app, warnings };
}

describe("observability.reasoning", () => {
  it("keeps the words in the store it is given, and nothing but references in the log", async () => {
    const store = new MemoryContentStore({ now: () => 0 });
    const { app, warnings } = await run({ store });
    const log = app.stores.eventStore;
    expect(JSON.stringify(await log.read("x"))).not.toContain("six times seven");
    expect(await readReasoning(log, store, { executionId: "x" })).toMatchObject([
      { stepId: "ask", status: "ok", provider: "scripted" },
    ]);
    expect(warnings).toEqual([]);
  });

  it('keeps them beside the log for store: "log"', async () => {
    const { app } = await run({ store: "log" }, temporaryDirectory());
    const { eventStore, contentStore } = app.stores;
    expect(await readReasoning(eventStore, contentStore, { executionId: "x" })).toMatchObject([
      { status: "ok" },
    ]);
  });

  it("warns at boot of a model whose thoughts are dropped, unless that was said", async () => {
    const { warnings } = await run(undefined);
    expect(warnings).toEqual([expect.stringContaining("Effect model asks a model that reasons")]);
    expect((await run(false)).warnings).toEqual([]);
  });

  it("leaves other effects as they are, and takes the same one twice", async () => {
    const effect = new ToolEffect(() => 1);
    const model = createAgentModelEffect(thinks());
    const app = openApp({ observability: { reasoning: { store: "log" } } });
    await app.start();
    for (let i = 0; i < 2; i++) {
      app.effectRuntime.register("tool", effect);
      app.effectRuntime.register("model", model);
    }
    expect(app.effectRuntime.find("tool")).toBe(effect);
    expect(() => app.effectRuntime.register("model", createAgentModelEffect(thinks()))).toThrow(
      /Another effect/,
    );
    expect(() => app.effectRuntime.register("none", {} as never)).toThrow(/has no execute function/);
  });

  it.each<[string, unknown]>([
    ["observability.reasoning", true],
    ["observability.reasoning.store", { store: "disk" }],
    ["observability.reasoning.store", { store: { put: () => 0 } }],
    ["observability.reasoning.live", { live: "yes" }],
    ["observability.reasoning.requireContinuation", { requireContinuation: 1 }],
    ["observability.reasoning.sotre", { sotre: {} }],
  ])("%s is named when it is wrong", (option, reasoning) => {
    const config: LoomConfig = {
      storage: { kind: "memory" },
      observability: { reasoning: reasoning as ReasoningConfig },
    };
    expect(() => defineConfig(config)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", details: { option } }),
    );
  });
});
