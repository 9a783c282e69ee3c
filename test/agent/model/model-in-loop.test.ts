// Agents whose model is made by createAgentModelEffect: what the ring makes of its failures, and what a vendor that checks its own
// reasoning is sent, wherever the process was killed in between.

import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { createAgentModelEffect, readReasoning } from "../../../src/agent/index.js";
import { retryMiddleware, streamTokenBudget } from "../../../src/index.js";
import { contained, MemoryContentStore, unwrapTainted } from "../../../src/kernel/index.js";
import {
  type AssistantMessage,
  LlmError,
  type LlmProvider,
  type LlmRequest,
  type LlmResponse,
  type ReasoningBlock,
  scriptedProvider,
} from "../../../src/llm/index.js";
import { AgentStage, ScriptedModel } from "../../support/agents.js";
import { World } from "../../support/world.js";

function stageOf(effect: ReturnType<typeof createAgentModelEffect>, world = World.lmdb()): AgentStage {
  return new AgentStage(world, {
    model: Object.assign(new ScriptedModel([]), { effect }),
    tools: { look: () => "seen" },
  });
}

/** A vendor that gives two blocks a turn, takes three turns, and refuses a conversation in which a block is not as it was. */
class Vendor implements LlmProvider {
  readonly id = "vendor";
  readonly capabilities = { reasoning: true };
  asked = 0;

  async complete({ messages }: LlmRequest): Promise<LlmResponse> {
    const turns = messages.filter((message) => message.role === "assistant");
    for (const [turn, { reasoning }] of turns.entries())
      if (!isDeepStrictEqual(reasoning, blocksOf(turn)))
        throw new LlmError("LLM_REQUEST_REFUSED", `The signature of turn ${turn} does not fit.`);
    this.asked++;
    const turn = turns.length;
    const reasoning = blocksOf(turn);
    if (turn === 2) return { content: "Done.", stopReason: "end", reasoning };
    const toolCalls = [{ id: `c${turn}`, name: "look", input: {}, signature: `call ${turn}` }];
    return { content: "", stopReason: "toolUse", toolCalls, reasoning };
  }
}

const blocksOf = (turn: number): ReasoningBlock[] => [
  { kind: "reasoning", provider: "vendor", text: `thought ${turn}`, signature: `signed ${turn}` },
  { kind: "redacted", provider: "vendor", signature: `withheld ${turn}` },
];

describe("reasoning", () => {
  it("costs a turn what is new: a message that says what it said before is sent as the same one", async () => {
    const vendor = new Vendor();
    const requests: LlmRequest[] = [];
    const complete = vendor.complete.bind(vendor);
    vendor.complete = (request) => {
      requests.push(request);
      return complete(request);
    };
    const stage = stageOf(createAgentModelEffect(vendor, { reasoning: { store: memory() } }));
    expect((await stage.run()).error).toBeUndefined();
    const [, second, third] = requests.map(({ messages }) => messages);
    expect(third!.slice(0, 3).map((message, place) => message === second![place])).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("goes back to its vendor unchanged, wherever the process was killed", async () => {
    const count = stageOf(createAgentModelEffect(new Vendor(), { reasoning: { store: memory() } }));
    expect((await count.run()).error).toBeUndefined();
    const { commits } = count.world.process!.store;
    for (let commit = 1; commit < commits; commit++) {
      const vendor = new Vendor();
      const store = memory(); // outlives the process, as a sidecar does
      const stage = stageOf(createAgentModelEffect(vendor, { reasoning: { store } }), World.memory());
      const first = await stage.open({ crash: { commit, kept: true } });
      void contained(first.runtime.start(stage.flow, null, { executionId: "x" }));
      await stage.world.until(first.crashed);
      const second = await stage.open();
      const state = await second.finish("x");
      expect(state.error).toBeUndefined();
      expect(vendor.asked).toBeLessThanOrEqual(4); // what was under way is asked for again
      const records = await readReasoning({ read: () => stage.world.events() }, store, { executionId: "x" });
      const texts = new Set(
        records.filter(({ status }) => status === "ok").map(({ text }) => unwrapTainted(text)),
      );
      expect([...texts]).toEqual(["thought 0", "thought 1", "thought 2"]);
    }
  });

  it("is in the log by its parts, which the conversation of the next turn names", async () => {
    const stage = stageOf(createAgentModelEffect(new Vendor(), { reasoning: { store: memory() } }));
    const state = await stage.run();
    const answer = state.frames["agent:a#turn:0"]?.output as AssistantMessage;
    expect(answer.reasoning).toHaveLength(2);
    expect(JSON.stringify(await stage.world.events())).not.toContain("thought");
  });

  function memory(): MemoryContentStore {
    return new MemoryContentStore({ now: () => 0 });
  }
});

describe("a provider that fails", () => {
  it("is asked again when it said it should be, and not before", async () => {
    const limited = new LlmError("LLM_RATE_LIMITED", "Slower.", { retryAfterMs: 7_500 });
    for (const stream of [true, false]) {
      const provider = scriptedProvider([{ content: "Half", error: limited }, "Whole."]);
      const stage = stageOf(createAgentModelEffect(provider, { stream }));
      const process = await stage.start({
        middleware: [retryMiddleware({ maxRetries: 2, baseDelayMs: 10 })],
      });
      const state = await process.finish("x");
      expect(state.variables["_output"]).toMatchObject({ content: "Whole." });
      const events = await stage.world.events();
      const [retried] = events.filter(({ type }) => type === "STEP_RETRIED");
      expect(retried).toMatchObject({ payload: { reason: "failed", dueAt: retried!.timestamp + 7_500 } });
    }
  });

  it("for good is not asked again", async () => {
    const refused = new LlmError("LLM_REQUEST_REFUSED", "No such model.");
    const provider = scriptedProvider([refused, "Whole."]);
    const stage = stageOf(createAgentModelEffect(provider));
    const process = await stage.start({ middleware: [retryMiddleware({ maxRetries: 2 })] });
    expect((await process.finish("x")).error).toMatchObject({ code: "LLM_REQUEST_REFUSED" });
    expect(provider.requests).toHaveLength(1);
  });
});

describe("a guard", () => {
  it("ends the turn with QUOTA_EXCEEDED, on record, and what was generated is paid for", async () => {
    const provider = scriptedProvider(["word ".repeat(200)]);
    const guard = streamTokenBudget({ maxTokens: 20 });
    const stage = stageOf(createAgentModelEffect(provider, { guard }));
    const state = await stage.run();
    expect(state.error).toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { scope: "call", meter: "tokens" },
    });
    const events = await stage.world.events();
    expect(events.filter(({ type }) => type === "QUOTA_EXCEEDED")).toMatchObject([
      { payload: { stepId: "agent:a#turn:0", scope: "call", meter: "tokens", limit: 20 } },
    ]);
    expect(state.usage?.tokens).toBeGreaterThan(20);
    expect(state.usage?.tokens).toBeLessThan(30);
  });
});

describe("usage", () => {
  it("is metered once a call, streamed or not, and summed up", async () => {
    const usage = { inputTokens: 30, outputTokens: 12 };
    for (const stream of [true, false]) {
      const stage = stageOf(
        createAgentModelEffect(scriptedProvider([{ content: "Done.", usage }]), { stream }),
      );
      const state = await stage.run();
      expect(state.usage).toMatchObject({ calls: 1, tokens: 42 });
      expect(state.variables["_output"]).toMatchObject({ usage });
    }
  });
});
