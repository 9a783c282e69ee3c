// runAgentOnce: an agent for a script or a test, under everything an app would put around it.

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AgentLoopConfigError } from "../../src/agent/index.js";
import { agent$, GrantTable, runAgentOnce, ToolEffect, tool$ } from "../../src/index.js";
import { type ScriptedAnswer, scriptedProvider } from "../../src/llm/index.js";

const lookup = tool$({
  id: "lookup",
  description: "Looks up",
  inputSchema: z.object({ key: z.string() }),
  outputSchema: z.unknown(),
});
const agent = agent$({ id: "dba", tools: [lookup] });
const script: readonly ScriptedAnswer[] = [
  { toolCalls: [{ id: "c1", name: "lookup", input: { key: "lag" } }] },
  "a long transaction",
];
const registerEffects = (
  effects: Parameters<NonNullable<Parameters<typeof runAgentOnce>[0]["registerEffects"]>>[0],
) => effects.register("lookup", new ToolEffect(({ key }: { key: string }) => `${key} is 40 s`));
const model = () => scriptedProvider(script, { strict: true, capabilities: { tools: true } });

describe("runAgentOnce", () => {
  it("gives the answer and the log of the run", async () => {
    const provider = model();
    const { status, output, events } = await runAgentOnce({
      agent,
      provider,
      registerEffects,
      input: "why is replication lagging?",
      loop: { systemPrompt: "You are a DBA." },
    });
    expect(status).toBe("completed");
    expect(output).toMatchObject({ content: "a long transaction", toolCallLog: [{ result: "lag is 40 s" }] });
    expect(events.map(({ type }) => type)).toContain("EXECUTION_COMPLETED");
    expect(provider.requests[0]?.system).toBe("You are a DBA.");
  });

  it("takes a model that is registered as any effect is, under a name of its own", async () => {
    const { output } = await runAgentOnce({
      agent,
      input: { prompt: "why?" },
      loop: { modelToolId: "brain" },
      registerEffects: (effects) => {
        registerEffects(effects);
        effects.register("brain", new ToolEffect(() => ({ content: "because", stopReason: "end" })));
      },
    });
    expect(output?.content).toBe("because");
  });

  it.each([
    ["runAgentOnce: effects", { effects: registerEffects }],
    ["provider", { provider: { id: "mine" } }],
  ])("refuses what is no option, and what is no provider: %s", async (option, wrong) => {
    const run = runAgentOnce({ agent, provider: model(), input: "?", ...(wrong as object) });
    await expect(run).rejects.toMatchObject({ code: "CONFIG_INVALID", details: { option } });
  });

  it("refuses a model that is given twice", async () => {
    const twice = runAgentOnce({
      agent,
      provider: model(),
      registerEffects: (effects) => effects.register("model", new ToolEffect(() => "mine")),
      input: "?",
    });
    await expect(twice).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { option: "runAgentOnce: provider" },
    });
  });

  it("runs for somebody, and what an app denies is denied", async () => {
    const config = { security: { authorizer: new GrantTable({ ann: ["model", "lookup"], bob: ["model"] }) } };
    const run = (principal: string) =>
      runAgentOnce({ agent, provider: model(), registerEffects, input: "?", principal, config });
    expect((await run("ann")).status).toBe("completed");
    await expect(run("bob")).rejects.toMatchObject({ code: "EFFECT_DENIED" });
  });

  it("says that it is suspended when it waits for an approval, and has not done what was asked about", async () => {
    let ran = 0;
    const { status, output, events } = await runAgentOnce({
      agent,
      provider: model(),
      registerEffects: (effects) => effects.register("lookup", new ToolEffect(() => ++ran)),
      input: "?",
      loop: { needsApproval: () => true },
    });
    expect([status, output, ran]).toEqual(["suspended", undefined, 0]);
    expect(events.at(-1)?.type).toBe("EXECUTION_SUSPENDED");
  });

  it("rejects with the loop's own error", async () => {
    const refused = runAgentOnce({ agent, provider: model(), input: "?", loop: { maxIterations: 0 } });
    await expect(refused).rejects.toBeInstanceOf(AgentLoopConfigError);
    const endless = runAgentOnce({
      agent,
      provider: model(),
      registerEffects,
      input: "?",
      loop: { maxIterations: 1 },
    });
    await expect(endless).rejects.toMatchObject({ code: "AGENT_TURN_LIMIT" });
  });
});
