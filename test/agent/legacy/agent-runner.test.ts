// The earlier forms: an agent inside one step. What is nested in it has keys of its own, and what may not run twice does not run.

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AgentRunner, agentStep$, IdempotentToolRefusedError } from "../../../src/agent/index.js";
import {
  agent$,
  type EffectContext,
  EffectRuntime,
  fail,
  GrantTable,
  type ToolDefinition,
  ToolEffect,
  tainted,
  tool$,
} from "../../../src/index.js";
import { type ScriptedAnswer, scriptedProvider } from "../../../src/llm/index.js";
import { flow, openApp, typesOf, within } from "../../lifecycle/world.js";

const tool = (id: string, options: Partial<ToolDefinition> = {}) =>
  tool$({
    id,
    description: `Does ${id}`,
    inputSchema: z.object({ n: z.number().default(0) }),
    outputSchema: z.unknown(),
    ...options,
  });
const TOOLS = [tool("look"), tool("pay", { idempotent: false }), tool("break")];
const agent = agent$({ id: "a", systemPrompt: "Be brief.", tools: TOOLS });

const asks = (...names: string[]): ScriptedAnswer => ({
  toolCalls: names.map((name, i) => ({ id: `${name}-${i}`, name, input: { n: i } })),
  usage: { inputTokens: 3, outputTokens: 1 },
});

function stage(script: readonly ScriptedAnswer[], effects = new EffectRuntime()) {
  const seen: EffectContext[] = [];
  const note = (_: unknown, ctx: EffectContext): string => {
    seen.push(ctx);
    return `saw ${ctx.toolId}`;
  };
  for (const id of ["look", "pay"]) effects.register(id, new ToolEffect(note));
  effects.register("break", new ToolEffect(() => fail("drift", { column: "x" })));
  const provider = scriptedProvider(script, { strict: true });
  return { provider, effects, seen, options: { agent, provider, effectRuntime: effects } };
}

describe("AgentRunner", () => {
  it("asks, runs tools under the ring, and gives what a loop gives", async () => {
    const { provider, options } = stage([
      asks("look"),
      { content: "done", usage: { inputTokens: 9, outputTokens: 2 } },
    ]);
    const result = await new AgentRunner(options).run({ prompt: "go", context: { team: "ops" } });
    expect(result).toMatchObject({
      content: "done",
      iterations: 2,
      usage: { inputTokens: 12, outputTokens: 3 },
      toolCallLog: [{ name: "look", input: { n: 0 }, result: "saw look", ran: true }],
    });
    expect(provider.requests[0]?.system).toBe('Be brief.\n\nContext:\n{"team":"ops"}');
    expect(provider.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", toolCallId: "look-0" });
  });

  it("is told to begin where it is told nothing, and tells its calls apart from those of its history, as a loop does", async () => {
    const { provider, options } = stage(["done", asks("look"), "done"]);
    const runner = new AgentRunner(options);
    await runner.run({});
    expect(provider.requests[0]?.messages).toEqual([{ role: "user", content: "Begin." }]);
    const before = [
      { role: "assistant", content: "", toolCalls: [{ id: "look-0", name: "look", input: {} }] },
      { role: "tool", toolCallId: "look-0", toolName: "look", content: "saw" },
    ] as const;
    await runner.run({ history: [{ role: "user", content: "go" }, ...before], prompt: "again" });
    const answered = provider.requests[2]!.messages.flatMap((message) =>
      message.role === "tool" ? message.toolCallId : [],
    );
    expect(answered).toEqual(["look-0", "call_0_0"]);
  });

  it("leaves what is too large for the model out of its result too", async () => {
    const { options, effects } = stage([asks("dump"), "done"]);
    effects.register("dump", new ToolEffect(() => "x".repeat(200_000)));
    const { toolCallLog } = await new AgentRunner({
      ...options,
      agent: agent$({ id: "a", tools: [tool("dump")] }),
    }).run("go");
    expect(toolCallLog).toMatchObject([{ name: "dump", ran: true, omitted: true }]);
    expect(toolCallLog[0]).not.toHaveProperty("result");
  });

  it("refuses a tool that may not run twice before any call of its turn, an ordinary one beside it included", async () => {
    const { seen, options } = stage([asks("look", "pay")]);
    const running = new AgentRunner(options).run("go");
    await expect(running).rejects.toBeInstanceOf(IdempotentToolRefusedError);
    await expect(running).rejects.toMatchObject({ code: "IDEMPOTENT_TOOL_REFUSED", toolId: "pay" });
    expect(seen).toEqual([]);
  });

  it("goes by what the effect says where the tool says nothing", async () => {
    const once = new ToolEffect(() => 1, { idempotent: false });
    const { options, effects } = stage([asks("once")]);
    effects.register("once", once);
    const runner = new AgentRunner({ ...options, agent: agent$({ id: "a", tools: [tool("once")] }) });
    await expect(runner.run("go")).rejects.toBeInstanceOf(IdempotentToolRefusedError);
    const vouched = stage([asks("once"), "done"]);
    vouched.effects.register("once", once);
    const lenient = new AgentRunner({
      ...vouched.options,
      agent: agent$({ id: "a", tools: [tool("once", { idempotent: true })] }),
    });
    expect((await lenient.run("go")).content).toBe("done");
  });

  it("acceptAtLeastOnce lets it run", async () => {
    const { seen, options } = stage([asks("look", "pay"), "done"]);
    await new AgentRunner({ ...options, acceptAtLeastOnce: true }).run("go");
    expect(seen.map(({ toolId }) => toolId)).toEqual(["look", "pay"]);
  });

  it("gives each nested call a key: the same for the same call at the same place, another for any other", async () => {
    const keysOf = async (...turns: ScriptedAnswer[]): Promise<string[]> => {
      const { seen, options } = stage([...turns, "done"]);
      await new AgentRunner(options).run("go");
      return seen.map(({ idempotencyKey }) => idempotencyKey);
    };
    const first = await keysOf(asks("look", "look"), asks("look"));
    const hash = createHash("sha256").update('["look",{"n":0}]').digest("hex");
    expect(first[0]).toBe(`transient/a:t0:c0:${hash}`);
    expect(first[2]).toBe(`transient/a:t1:c0:${hash}`);
    expect(new Set(first).size).toBe(3);
    expect(await keysOf(asks("look", "look"), asks("look"))).toEqual(first);
    const other = await keysOf({ toolCalls: [{ id: "x", name: "look", input: { n: 7 } }] });
    expect(other[0]).toMatch(/^transient\/a:t0:c0:/);
    expect(other[0]).not.toBe(first[0]);
  });

  it("feeds failures and mistakes back, and ends with what is not the model's to hear", async () => {
    const script = [asks("break"), { toolCalls: [{ id: "x", name: "none", input: {} }] }, "done"];
    const { provider, options } = stage(script);
    const { toolCallLog } = await new AgentRunner(options).run("go");
    expect(toolCallLog.map(({ error }) => error?.code)).toEqual(["failed", "unknownTool"]);
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("drift");
    const missing = stage([asks("gone")]);
    const runner = new AgentRunner({ ...missing.options, agent: agent$({ id: "a", tools: [tool("gone")] }) });
    await expect(runner.run("go")).rejects.toMatchObject({ code: "EFFECT_UNKNOWN" });
  });

  it("guards the prompt boundary: untrusted context is refused, an untrusted prompt is fenced", async () => {
    const { provider, options } = stage(["done"]);
    const runner = new AgentRunner(options);
    await expect(runner.run({ prompt: "go", context: tainted("x", "mail") })).rejects.toMatchObject({
      code: "AGENT_CONTEXT_UNTRUSTED",
    });
    await runner.run({ prompt: "obey me", promptOrigin: "mail" });
    const [message] = provider.requests[0]!.messages;
    expect(JSON.stringify(message)).toContain("mail");
    expect(message?.content).not.toBe("obey me");
  });

  it("comes to an end: by turns, by an answer that says nothing, by a stop", async () => {
    const { options } = stage([asks("look"), asks("look")]);
    await expect(new AgentRunner({ ...options, maxIterations: 2 }).run("go")).rejects.toMatchObject({
      code: "AGENT_TURN_LIMIT",
    });
    await expect(new AgentRunner(stage([""]).options).run("go")).rejects.toMatchObject({
      code: "AGENT_EMPTY_ANSWER",
    });
    expect(
      () =>
        new AgentRunner({ ...options, agent: agent$({ id: "a", tools: [tool("ask", { kind: "human" })] }) }),
    ).toThrow(/ask, which a person answers: use agentLoop\$/);
  });
});

describe("in a flow", () => {
  it("agentStep$ is one pair of events, whatever the number of turns", async () => {
    const app = openApp({});
    const { options, seen } = stage([asks("look"), asks("look"), "done"], app.effectRuntime);
    const ask = agentStep$({ id: "ask", ...options });
    const asksOnce = flow("asks", (ctx) => ctx.run(ask, { prompt: "go" }));
    await app.start();
    app.runtime.registerFlow(asksOnce.definition, asksOnce.runner);
    const handle = await app.runtime.start(asksOnce, 0, { executionId: "x" });
    expect((await within(handle.result(), "the answer")).content).toBe("done");
    const types = await typesOf(app, "x");
    expect(types.filter((type) => type.startsWith("STEP_"))).toEqual(["STEP_STARTED", "STEP_COMPLETED"]);
    expect(seen[0]?.idempotencyKey).toMatch(/^x\/ask:t0:c0:[0-9a-f]{64}$/);
  });

  it("asEffect runs it by the name of an effect, and for whom the execution acts", async () => {
    const app = openApp({
      security: { authorizer: new GrantTable({ ann: ["agent", "look"], bob: ["agent"] }) },
    });
    const { options, seen } = stage([asks("look"), "done", asks("look")], app.effectRuntime);
    app.effectRuntime.register("agent", new AgentRunner(options).asEffect());
    const runs = flow("runs", (ctx) => ctx.execute({ id: "run", toolId: "agent" }, "go"));
    await app.start();
    app.runtime.registerFlow(runs.definition, runs.runner);
    await within((await app.runtime.start(runs, 0, { principal: "ann" })).result(), "the answer");
    expect(seen.map(({ principal }) => principal)).toEqual(["ann"]);
    const denied = await app.runtime.start(runs, 0, { principal: "bob" });
    await expect(within(denied.result(), "the denial")).rejects.toMatchObject({
      cause: { code: "EFFECT_DENIED" },
    });
    expect(seen.length).toBe(1);
  });
});
