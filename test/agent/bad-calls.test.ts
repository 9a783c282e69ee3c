// Goal: whatever a model writes where a call should be, the conversation stays one that a strict provider takes (C-AGT-01). The
// model of these tests refuses every other one.

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readTurnRequest } from "../../src/agent/index.js";
import { agent$ } from "../../src/kernel/index.js";
import type { LlmToolCall } from "../../src/llm/index.js";
import { AgentStage, anyTool, call, calls, ScriptedModel, says } from "../support/agents.js";
import { World } from "../support/world.js";

const read = anyTool("read", { inputSchema: z.object({ path: z.string() }) });
const reader = { definition: agent$({ id: "a", tools: [read, anyTool("loose")] }) };
const tools = {
  read: ({ path }: { path: string }) => `content of ${path}`,
  loose: (input: unknown) => input,
};

async function runWith(toolCalls: readonly unknown[], config = {}) {
  const model = new ScriptedModel([calls(...(toolCalls as LlmToolCall[])), says("done")]);
  const stage = new AgentStage(World.memory(), { model, tools, config: { ...reader, ...config } });
  const state = await stage.run();
  return { model, stage, state };
}

const parsed = (results: readonly string[]) =>
  results.map((text) => JSON.parse(text) as Record<string, unknown>);

describe("calls the model got wrong", () => {
  test("C-AGT-01: a good call runs beside malformed arguments, a wrong shape and an unknown name", async () => {
    const cut = { id: "c2", name: "read", input: undefined, malformed: '{"path": "a' };
    const { model, stage, state } = await runWith([
      call("c1", "read", { path: "x" }),
      cut,
      call("c3", "no_such_tool", { a: 1 }),
      call("c4", "read", { path: 7 }),
      call("c5", "read", "just text"),
    ]);
    expect(state.status).toBe("completed");
    expect(parsed(model.results())).toEqual([
      { tool: "read", result: "content of x" },
      { tool: "read", code: "malformedInput", error: expect.stringContaining("no valid JSON") as unknown },
      {
        tool: "no_such_tool",
        code: "unknownTool",
        error: expect.stringContaining("no_such_tool") as unknown,
      },
      { tool: "read", code: "invalidInput", error: expect.stringContaining("path") as unknown },
      { tool: "read", code: "invalidInput", error: expect.any(String) as unknown },
    ]);
    expect(model.messages(-1)).toMatchObject([
      {},
      {
        toolCalls: [
          { id: "c1" },
          { id: "c2", input: {} },
          { id: "c3" },
          { id: "c4" },
          { id: "c5", input: {} },
        ],
      },
      { toolCallId: "c1" },
      ...["c2", "c3", "c4", "c5"].map((toolCallId) => ({ toolCallId, isError: true })),
    ]);
    expect(stage.world.runs).toEqual(new Map([["x/agent:a#turn:0:tool:0", 1]]));
    // The bad text is kept for audit.
    expect(state.frames["agent:a#turn:0"]?.output).toMatchObject({ toolCalls: [{}, cut, {}, {}, {}] });
    expect(state.variables["_output"]).toMatchObject({
      toolCallLog: [
        { ran: true, result: "content of x" },
        { ran: false, input: '{"path": "a', error: { code: "malformedInput" } },
        { ran: false, error: { code: "unknownTool" } },
        { ran: false, error: { code: "invalidInput" } },
        { ran: false, error: { code: "invalidInput" } },
      ],
    });
  });

  test("corrections count against a limit, after which the loop ends with a reason of its own", async () => {
    const model = new ScriptedModel((_, asked) => calls(call(`c${asked}`, "nothing")));
    const stage = new AgentStage(World.memory(), { model, tools, config: { ...reader, maxCorrections: 3 } });
    const state = await stage.run();
    expect(state.error).toMatchObject({
      code: "AGENT_CORRECTION_LIMIT",
      details: { corrections: 4, maxCorrections: 3 },
    });
    expect(model.asked).toBe(4);
  });

  test("the limit of turns has a reason of its own", async () => {
    const model = new ScriptedModel((_, asked) => calls(call(`c${asked}`, "read", { path: "x" })));
    const stage = new AgentStage(World.memory(), { model, tools, config: { ...reader, maxIterations: 3 } });
    expect((await stage.run()).error).toMatchObject({ code: "AGENT_TURN_LIMIT" });
    expect(model.asked).toBe(3);
  });

  test("ids that are missing, repeated in a turn or known from before become unique, the same on every replay", async () => {
    const world = World.memory();
    const model = new ScriptedModel([
      calls(
        call("same", "read", { path: "1" }),
        call("same", "read", { path: "2" }),
        { name: "read", input: { path: "3" } } as LlmToolCall,
        call("", "read", { path: "4" }),
      ),
      calls(call("same", "read", { path: "5" }), call("call_0_1", "read", { path: "6" })),
      says("done"),
    ]);
    const config = { ...reader, needsApproval: ({ id }: { id: string }) => id === "call_1_1" };
    const stage = new AgentStage(world, { model, tools, config });
    await world.until((await stage.start()).runtime.handle("x").waitForSuspend());
    const process = await stage.open();
    const state = await process.finish("x", { AgentToolApproval: { approved: true } });
    expect(state.error).toBeUndefined();
    const ids = model
      .messages(-1)
      .flatMap((message) => (message.role === "tool" ? [message.toolCallId] : []));
    expect(ids).toEqual(["same", "call_0_1", "call_0_2", "call_0_3", "call_1_0", "call_1_1"]);
    expect(model.results()).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => JSON.stringify({ tool: "read", result: `content of ${n}` })),
    );
  });

  test("ids of the history are taken too", async () => {
    const world = World.memory();
    const model = new ScriptedModel([calls(call("h1", "read", { path: "x" })), says("done")]);
    const history = [
      { role: "user", content: "before" },
      { role: "assistant", content: "", toolCalls: [call("h1", "read", { path: "old" })] },
      { role: "tool", toolCallId: "h1", toolName: "read", content: "old" },
    ] as const;
    const stage = new AgentStage(world, { model, tools, config: reader, input: { history } });
    expect((await stage.run()).error).toBeUndefined();
    expect(model.messages(-1).at(-1)).toMatchObject({ toolCallId: "call_0_0" });
  });

  test("an argument may be named __proto__: it reaches the tool, and the log gives the request back", async () => {
    const input = JSON.parse('{"path":"x","__proto__":{"admin":true}}') as unknown;
    const { model, stage, state } = await runWith([call("c1", "loose", input)]);
    expect(state.error).toBeUndefined();
    expect(JSON.stringify(model.messages(-1)[1])).toContain('"__proto__":{"admin":true}');
    const read = readTurnRequest(await stage.world.events(), "agent:a#turn:1");
    expect(JSON.stringify(read.messages)).toBe(JSON.stringify(model.messages(-1)));
  });

  test("arguments at which a transform of the schema throws are answered like others that do not fit", async () => {
    const schema = z.object({ path: z.string().transform((text) => new URL(text).href) });
    const definition = agent$({ id: "a", tools: [anyTool("read", { inputSchema: schema })] });
    const made = [call("c1", "read", { path: "no address" }), call("c2", "read", { path: "http://a/" })];
    const { model, state } = await runWith(made, { definition });
    expect(state.error).toBeUndefined();
    expect(parsed(model.results())).toMatchObject([
      { code: "invalidInput" },
      { result: "content of http://a/" },
    ]);
  });

  test("calls that are no calls at all are answered", async () => {
    const { model, state } = await runWith([null, 7, { id: 3, name: 9, input: [] }, "x"]);
    expect(state.error).toBeUndefined();
    expect(parsed(model.results()).map(({ code }) => code)).toEqual(Array(4).fill("unknownTool"));
  });

  test("more calls than a turn may have are answered, and not made", async () => {
    const many = Array.from({ length: 5 }, (_, i) => call(`c${i}`, "read", { path: `${i}` }));
    const { model, stage } = await runWith(many, { maxCallsPerTurn: 2 });
    expect(parsed(model.results()).map(({ code }) => code)).toEqual([
      undefined,
      undefined,
      "tooManyCalls",
      "tooManyCalls",
      "tooManyCalls",
    ]);
    expect(stage.world.runs.size).toBe(2);
  });

  test("another party's tool that is gone is answered as unknown; one of the app's that is not registered is a mistake", async () => {
    const gone = (origin: "local" | "remote") => ({
      definition: agent$({ id: "a", tools: [anyTool("gone", { origin })] }),
    });
    const script = [calls(call("c1", "gone")), says("done")];
    const remote = new ScriptedModel(script);
    await new AgentStage(World.memory(), { model: remote, config: gone("remote") }).run();
    expect(parsed(remote.results())).toMatchObject([{ code: "unknownTool" }]);
    const local = new AgentStage(World.memory(), { model: new ScriptedModel(script), config: gone("local") });
    expect((await local.run()).error).toMatchObject({ code: "EFFECT_UNKNOWN" });
  });
});

/** What a model effect may give that is no answer. */
describe("answers that are none", () => {
  test.each([
    ["nothing", undefined],
    ["a text", "hello"],
    ["a content that is no text", { content: 7 }],
    ["calls that are no list", { content: "", toolCalls: "read" }],
  ])("%s ends the agent with AGENT_ANSWER_INVALID", async (_, given) => {
    const stage = new AgentStage(World.memory(), { model: new ScriptedModel([given]) });
    expect((await stage.run()).error).toMatchObject({ code: "AGENT_ANSWER_INVALID" });
  });

  test("an envelope of a claim check is an error that names the option", async () => {
    const envelope = { __loomClaimCheck: true, ref: "sha256:0", size: 9 };
    const stage = new AgentStage(World.memory(), { model: new ScriptedModel([envelope]) });
    expect((await stage.run()).error).toMatchObject({
      code: "AGENT_ANSWER_INVALID",
      message: expect.stringContaining("execution.claimCheck.toolIds") as unknown,
    });
  });

  test("10 MB of text are an answer; more than a value may have is a failure that says so", async () => {
    const long = "x".repeat(10 * 1024 * 1024);
    const content = ({ content }: { content: string }) => content.length;
    const answered = new AgentStage(World.memory(), { model: new ScriptedModel([says(long)]) });
    const state = await answered.run();
    expect(content(state.variables["_output"] as { content: string })).toBe(long.length);
    const over = new AgentStage(World.memory(), { model: new ScriptedModel([says(long + long)]) });
    expect((await over.run()).error).toMatchObject({ code: "VALUE_TOO_LARGE" });
  });
});

describe("C-AGT-04: a model that says nothing", () => {
  test.each([
    ["nothing", { content: "", stopReason: "end" }],
    ["nothing", { content: " \n\t", stopReason: "end" }],
    ["nothing", { stopReason: "maxTokens" }],
    ["reasoningOnly", { content: "", stopReason: "end", reasoning: [{ kind: "redacted", provider: "p" }] }],
    ["contentFilter", { content: "", stopReason: "contentFilter" }],
    ["toolUseWithoutCall", { content: "let me see", toolCalls: [], stopReason: "toolUse" }],
  ])("%s: is asked again twice and ends with a reason of its own", async (reason, answer) => {
    const model = new ScriptedModel([answer]);
    const stage = new AgentStage(World.memory(), { model });
    const state = await stage.run();
    expect(state.error).toMatchObject({ code: "AGENT_EMPTY_ANSWER", details: { reason, asked: 3, turn: 0 } });
    expect(model.asked).toBe(3);
    expect(Object.keys(state.frames)).toEqual([
      "agent:a#turn:0",
      "agent:a#turn:0:again:1",
      "agent:a#turn:0:again:2",
    ]);
  });

  test("an answer that comes at last is the answer, and what said nothing is no part of the conversation", async () => {
    const nothing = { content: "", stopReason: "end", usage: { inputTokens: 1, outputTokens: 0 } };
    const use = { ...calls(call("c", "read", { path: "x" })), usage: { inputTokens: 2, outputTokens: 3 } };
    const model = new ScriptedModel([nothing, use, nothing, nothing, says("at last")]);
    const stage = new AgentStage(World.memory(), { model, tools, config: reader });
    const state = await stage.run();
    expect(state.variables["_output"]).toMatchObject({
      content: "at last",
      iterations: 2,
      usage: { inputTokens: 5, outputTokens: 3 },
    });
    expect(model.messages(-1).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });

  test("none is asked for again where maxEmptyAnswers is 0", async () => {
    const model = new ScriptedModel([{ content: "", stopReason: "end" }]);
    const stage = new AgentStage(World.memory(), { model, config: { maxEmptyAnswers: 0 } });
    expect((await stage.run()).error).toMatchObject({ code: "AGENT_EMPTY_ANSWER" });
    expect(model.asked).toBe(1);
  });
});
