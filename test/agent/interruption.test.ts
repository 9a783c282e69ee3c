// C-AGT-02: an agent is stopped at every moment there is, or its process dies there, and the conversation goes on in a second agent
// whose provider refuses what a strict vendor refuses.
//
// The agent's model streams text and two calls; a tool that is running when the agent is stopped does not notice. Moments are the
// pieces of the stream, the events of the log, and the tools.

import { describe, expect, test } from "vitest";
import { conversationOf, createAgentModelEffect } from "../../src/agent/index.js";
import { agent$, TypedFailure } from "../../src/kernel/index.js";
import type {
  LlmMessage,
  LlmProvider,
  LlmRequest,
  LlmResponse,
  LlmStreamEvent,
} from "../../src/llm/index.js";
import {
  AgentStage,
  anyTool,
  call,
  calls,
  checkConversation,
  ScriptedModel,
  says,
} from "../support/agents.js";
import { latch } from "../support/latch.js";
import { World } from "../support/world.js";

const FIRST: LlmResponse = {
  content: "Let me look. One moment.",
  toolCalls: [call("c0", "look", { at: "a" }), call("c1", "look", { at: "b" })],
  stopReason: "toolUse",
};

/** Each moment at which something can happen, told as it passes. */
type Moment = `piece ${number}` | `event ${number}` | `tool ${number}`;

function piecesOf({ content, toolCalls = [] }: LlmResponse): LlmStreamEvent[] {
  return [
    ...content.split(/(?<= )/).map((delta): LlmStreamEvent => ({ type: "text", delta })),
    ...toolCalls.flatMap(({ id, name, input }, index): LlmStreamEvent[] => {
      const json = JSON.stringify(input);
      return [
        { type: "toolCall", index, id, name, delta: json.slice(0, 4) },
        { type: "toolCall", index, delta: json.slice(4) },
      ];
    }),
  ];
}

const PIECES = piecesOf(FIRST).length;

/** Until the process is killed from outside, or nobody waits any more. */
const never = (): Promise<never> => new Promise(() => {});

/** An end as a flow may return it. */
const facts = (end: unknown): unknown => {
  if (!(end instanceof TypedFailure)) return end;
  const { channel, payload } = end;
  return { channel, payload };
};

class Scene {
  readonly world = World.memory();
  readonly requests: LlmRequest[] = [];
  readonly stage: AgentStage;
  controller = new AbortController();
  conversation: readonly LlmMessage[] | undefined;
  #isPassed = false;
  readonly #moment: Moment | undefined;
  readonly #act: (scene: Scene) => unknown;

  constructor(moment: Moment | undefined, act: (scene: Scene) => unknown, parallelTools = false) {
    this.#moment = moment;
    this.#act = act;
    const definition = agent$({ id: "a", tools: [anyTool("look")] });
    const model = new ScriptedModel([]);
    const effect = createAgentModelEffect(this.#provider(), { stream: true });
    this.stage = new AgentStage(this.world, {
      model: Object.assign(model, { effect }),
      tools: { look: (input: { at: string }, { signal }) => this.#look(input.at, signal) },
      flow: async (ctx, run) => {
        const config = { definition, modelToolId: "model", parallelTools };
        const end = await run(ctx, { ...config, signal: this.controller.signal }, { prompt: "go" }).catch(
          (error: unknown) => error,
        );
        this.conversation = conversationOf(end);
        await ctx.suspend({ on: "GoOn" });
        const next = { ...config, id: "second" };
        const { content } = await run(ctx, next, { history: this.conversation!, prompt: "go on" });
        return {
          end: facts(end),
          content,
        };
      },
    });
  }

  async #pass(moment: Moment): Promise<void> {
    if (moment !== this.#moment || this.#isPassed) return;
    this.#isPassed = true;
    await this.#act(this);
  }

  async #look(at: string, signal: AbortSignal): Promise<string> {
    const index = at === "a" ? 0 : 1;
    await this.#pass(`tool ${index}`);
    return this.#moment === `tool ${index}` && signal.aborted ? never() : `saw ${at}`;
  }

  #provider(): LlmProvider {
    const answer = (request: LlmRequest): LlmResponse => {
      this.requests.push(request);
      checkConversation(request.messages);
      return request.messages.length === 1 ? FIRST : says(`answer to ${request.messages.length}`);
    };
    return {
      id: "strict",
      capabilities: { streaming: true, tools: true },
      complete: async (request) => answer(request),
      stream: (request) => this.#stream(answer(request)),
    };
  }

  async *#stream(response: LlmResponse): AsyncGenerator<LlmStreamEvent> {
    for (const [index, piece] of piecesOf(response).entries()) {
      if (response === FIRST) await this.#pass(`piece ${index}`);
      await this.world.delay(1);
      yield piece;
    }
    if (response === FIRST) await this.#pass(`piece ${PIECES}`);
    yield { type: "end", response };
  }

  /** Runs to the gate between the agents, as one process or as the one that comes after a kill. */
  async toGate(): Promise<void> {
    const onDurableEvent = ({ sequence }: { sequence: number }): void => void this.#pass(`event ${sequence}`);
    const process = await this.stage.open({ onDurableEvent });
    await process.start(this.stage.flow, null);
    const handle = process.runtime.handle("x");
    await this.world.until(handle.waitForSuspend());
  }

  /** A restart at the gate, and then the second agent. */
  async goOn() {
    const before = this.conversation;
    this.controller = new AbortController();
    const process = await this.stage.open();
    const state = await process.finish("x", { GoOn: true });
    expect(state.error).toBeUndefined();
    expect(this.conversation).toEqual(before);
    return state.variables["_output"] as { end: Record<string, unknown>; content: string };
  }
}

/** Every call has exactly one answer, in order, and what was said stands. */
function checkEnd({ conversation, requests }: Scene): void {
  checkConversation([...conversation!, { role: "user", content: "and now?" }]);
  const last = conversation!.at(-1)!;
  expect(last.role).toBe("assistant");
  // The second agent got all of it, and added its prompt.
  expect(requests.at(-1)!.messages.length).toBe(conversation!.length + 1);
}

const stop = ({ controller }: Scene): void => controller.abort(new Error("barge-in"));

const MOMENTS: readonly Moment[] = [
  ...Array.from({ length: PIECES + 1 }, (_, n) => `piece ${n}` as const),
  ...Array.from({ length: 9 }, (_, n) => `event ${n}` as const),
  "tool 0",
  "tool 1",
];

describe("C-AGT-02: an agent that is stopped", () => {
  test.each(MOMENTS.flatMap((moment) => [false, true].map((parallel) => [moment, parallel] as const)))(
    "at %s (parallel tools: %s) leaves a conversation that a strict provider takes",
    async (moment, parallel) => {
      const scene = new Scene(moment, stop, parallel);
      await scene.toGate();
      const { end, content } = await scene.goOn();
      checkEnd(scene);
      expect(content).toMatch(/^answer to /);
      const { conversation } = scene;
      const said = conversation!.flatMap((message) => (message.role === "assistant" ? [message] : []));
      if (!("channel" in end)) return expect(end).toMatchObject({ stopReason: "end" });
      expect(end).toMatchObject({ channel: "agentInterrupted" });
      expect(said.at(-1)).toMatchObject({ interrupted: true });
      const payload = end["payload"] as { content: string; iterations: number; toolCallLog: unknown[] };
      // What the user already saw is a beginning of what was being said.
      expect(FIRST.content.startsWith(payload.content)).toBe(true);
      const index = moment.startsWith("piece") ? Number(moment.split(" ")[1]) : -1;
      if (index > 0) expect(said[0]!.content.length).toBeGreaterThan(0);
      expect(payload.toolCallLog).toHaveLength(said.flatMap(({ toolCalls = [] }) => toolCalls).length);
    },
  );

  test("a call that was interrupted is told apart from one that ran and from one that did not", async () => {
    const scene = new Scene("tool 0", stop);
    await scene.toGate();
    const { end } = await scene.goOn();
    expect(end["payload"]).toMatchObject({
      content: "",
      iterations: 1,
      toolCallLog: [
        { id: "c0", ran: true, error: { code: "interrupted" } },
        { id: "c1", ran: false, error: { code: "notRun" } },
      ],
    });
    const second = new Scene("tool 1", stop);
    await second.toGate();
    expect((await second.goOn()).end["payload"]).toMatchObject({
      toolCallLog: [
        { id: "c0", ran: true, result: "saw a" },
        { id: "c1", ran: true, error: { code: "interrupted" } },
      ],
    });
  });

  test.each([false, true])(
    "a call whose tool had not begun was not run, parallelTools: %s",
    async (parallelTools) => {
      const controller = new AbortController();
      const model = new ScriptedModel(() => {
        controller.abort();
        return calls(call("c0", "look"), call("c1", "look"));
      });
      const config = { signal: controller.signal, parallelTools };
      const stage = new AgentStage(World.memory(), { model, tools: { look: () => 1 }, config });
      const notRun = { ran: false, error: { code: "notRun" } };
      expect((await stage.run()).error).toMatchObject({ payload: { toolCallLog: [notRun, notRun] } });
      expect(stage.world.runs.size).toBe(0);
    },
  );

  test("an agent that was stopped before it began asks no model", async () => {
    const scene = new Scene(undefined, () => {});
    scene.controller.abort();
    await scene.toGate();
    expect(scene.requests).toEqual([]);
    expect((await scene.goOn()).end).toMatchObject({
      payload: { content: "", iterations: 1, toolCallLog: [] },
    });
    checkEnd(scene);
  });

  test("nobody is asked to approve a call of an agent that was stopped", async () => {
    const controller = new AbortController();
    const model = new ScriptedModel(() => {
      controller.abort();
      return calls(call("c", "drop"));
    });
    const world = World.memory();
    const config = { signal: controller.signal, needsApproval: () => true };
    const state = await new AgentStage(world, { model, tools: { drop: () => 1 }, config }).run();
    expect(state.error).toMatchObject({
      channel: "agentInterrupted",
      payload: { toolCallLog: [{ name: "drop", ran: false, error: { code: "notRun" } }] },
    });
    expect(state.gates).toEqual({});
    expect(world.runs.size).toBe(0);
  });
});

describe("C-AGT-02: an agent whose process dies", () => {
  test("needs its signal no more: one that waited for an approval goes on without it", async () => {
    const signals = [new AbortController().signal];
    const model = new ScriptedModel([calls(call("c", "drop")), says("done")]);
    const definition = agent$({ id: "a", tools: [anyTool("drop")] });
    const stage = new AgentStage(World.lmdb(), {
      model,
      tools: { drop: () => "dropped" },
      flow: (ctx, run) => {
        const signal = signals.pop();
        const config = { definition, modelToolId: "model", needsApproval: () => true };
        return run(ctx, { ...config, ...(signal && { signal }) });
      },
    });
    await stage.world.until((await stage.start()).runtime.handle("x").waitForSuspend());
    const state = await (await stage.open()).finish("x", { AgentToolApproval: { approved: true } });
    expect(state.error).toBeUndefined();
    expect(stage.world.ran("agent:a#turn:0:tool:0")).toBe(1);
  });

  test.each(MOMENTS.filter((moment) => !moment.startsWith("event")))(
    "at %s goes on as if nothing had happened",
    async (moment) => {
      const dead = latch();
      const scene = new Scene(moment, () => {
        dead.open();
        return never();
      });
      const process = await scene.stage.open();
      await process.start(scene.stage.flow, null);
      await scene.world.until(dead.opened);
      await scene.toGate();
      expect((await scene.goOn()).end).toMatchObject({ content: "answer to 4", iterations: 2 });
      checkEnd(scene);
      expect(scene.conversation!.map(({ role }) => role)).toEqual([
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
      ]);
    },
  );
});
