// What agents are tested with: a model that answers by a script and refuses conversations that a strict provider would refuse,
// and tools with any input.

import { z } from "zod";
import { type AgentLoopConfig, type AgentLoopInput, agentLoop$ } from "../../src/agent/index.js";
import { type EffectContext, LlmEffect, ToolEffect } from "../../src/effects/index.js";
import {
  agent$,
  type ExecutionContext,
  type RegisteredFlow,
  type ToolDefinition,
  tool$,
} from "../../src/kernel/index.js";
import type { LlmMessage, LlmRequest, LlmResponse, LlmToolCall } from "../../src/llm/index.js";
import { flow, type Process, type World } from "./world.js";

export type Script = (request: LlmRequest, asked: number, ctx: EffectContext) => unknown;

export const says = (content: string): LlmResponse => ({ content, stopReason: "end" });

export const call = (id: string, name: string, input: unknown = {}): LlmToolCall => ({ id, name, input });

export const calls = (...toolCalls: LlmToolCall[]): LlmResponse => ({
  content: "",
  toolCalls,
  stopReason: "toolUse",
});

/** Refuses what a strict provider refuses. */
export function checkConversation(messages: readonly LlmMessage[]): void {
  const ids = new Set<string>();
  let open: LlmToolCall[] = [];
  let before: LlmMessage["role"] | undefined;
  for (const [index, message] of messages.entries()) {
    const where = `message ${index} (${message.role})`;
    if (message.role === "tool") {
      const [expected, ...rest] = open;
      if (expected?.id !== message.toolCallId)
        throw new Error(`${where} answers ${message.toolCallId}; open is ${expected?.id ?? "nothing"}`);
      open = rest;
    } else {
      if (open.length > 0) throw new Error(`${where} comes while ${open[0]!.id} is not answered`);
      if (message.role === before) throw new Error(`${where} comes twice in a row`);
      if (message.role === "assistant") {
        if (message.content === "" && !message.toolCalls?.length) throw new Error(`${where} is empty`);
        for (const { id, name, input } of message.toolCalls ?? []) {
          if (!id || ids.has(id)) throw new Error(`${where} has the id ${JSON.stringify(id)}, and not alone`);
          if (!name) throw new Error(`${where} calls nothing`);
          if (typeof input !== "object" || input === null || Array.isArray(input))
            throw new Error(`${where} has arguments that are no object`);
          ids.add(id);
        }
        open = [...(message.toolCalls ?? [])];
      }
    }
    before = message.role;
  }
  if (open.length > 0) throw new Error(`nothing answers ${open[0]!.id}`);
  if (before === "assistant") throw new Error("an assistant had the last word");
}

/** A model that gives one answer after the other, or what a function makes of each request; its last answer it gives for ever. */
export class ScriptedModel {
  readonly requests: LlmRequest[] = [];
  readonly effect: LlmEffect<LlmRequest, unknown>;

  constructor(script: Script | readonly unknown[]) {
    const answer: Script =
      typeof script === "function" ? script : (_, asked) => script[Math.min(asked, script.length - 1)];
    this.effect = new LlmEffect(async (request: LlmRequest, ctx) => {
      const asked = this.requests.length;
      this.requests.push(structuredClone(request));
      checkConversation(request.messages);
      return answer(request, asked, ctx);
    });
  }

  get asked(): number {
    return this.requests.length;
  }

  /** The messages of the n-th request, counted from the last where negative. */
  messages(index: number): readonly LlmMessage[] {
    return this.requests.at(index)!.messages;
  }

  /** What the tools said, as the n-th request has it. */
  results(index = -1): readonly string[] {
    return this.messages(index).flatMap((message) =>
      message.role === "tool" ? [message.content as string] : [],
    );
  }
}

export type ToolRuns = Record<string, (input: never, ctx: EffectContext) => unknown>;

export const anyTool = (id: string, more: Partial<ToolDefinition> = {}): ToolDefinition =>
  tool$({
    id,
    description: `Does ${id}`,
    inputSchema: z.looseObject({}),
    outputSchema: z.unknown(),
    ...more,
  });

export interface AgentSetup {
  readonly model: ScriptedModel;
  /** By id; each becomes a tool of the agent, unless `config.definition` says otherwise. */
  readonly tools?: ToolRuns;
  readonly config?: Partial<AgentLoopConfig>;
  readonly input?: AgentLoopInput;
  readonly flowOptions?: Parameters<typeof flow>[2];
  readonly flow?: (ctx: ExecutionContext, run: typeof agentLoop$) => Promise<unknown>;
}

/** An app of one flow that runs one agent, in a world whose processes come and go. */
export class AgentStage {
  readonly world: World;
  readonly flow: RegisteredFlow;
  readonly #setup: AgentSetup;

  constructor(world: World, setup: AgentSetup) {
    this.world = world;
    this.#setup = setup;
    const { tools = {}, config, input = { prompt: "go" } } = setup;
    const definition = agent$({ id: "a", tools: Object.keys(tools).map((id) => anyTool(id)) });
    const run = (ctx: ExecutionContext): Promise<unknown> =>
      setup.flow
        ? setup.flow(ctx, agentLoop$)
        : agentLoop$(ctx, { definition, modelToolId: "model", ...config }, input);
    this.flow = flow<unknown, unknown>("agent", run, setup.flowOptions);
  }

  async open(options: Parameters<World["open"]>[1] = {}): Promise<Process> {
    await this.world.process?.kill();
    const process = this.world.prepare([this.flow], options);
    process.effects.register("model", this.#setup.model.effect);
    for (const [id, run] of Object.entries(this.#setup.tools ?? {})) {
      process.effects.register(
        id,
        new ToolEffect((input: never, ctx) => {
          this.world.count(`${ctx.executionId}/${ctx.stepId}`);
          return run(input, ctx);
        }),
      );
    }
    await this.world.until(Promise.race([process.runtime.open(), process.crashed]));
    return process;
  }

  async start(options: Parameters<World["open"]>[1] = {}): Promise<Process> {
    const process = await this.open(options);
    await process.start(this.flow, null);
    return process;
  }

  /** Runs it to its end. */
  async run(answers: Parameters<Process["finish"]>[1] = {}): Promise<ReturnType<Process["finish"]>> {
    const process = await this.start();
    return process.finish("x", answers);
  }
}
