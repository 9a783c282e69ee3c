// AgentRunner: the whole loop of an agent inside one effect. An earlier form: nothing of it is a step, so a crash begins it anew, nobody
// can be asked in between, and what it chooses is not recorded. `agentLoop$` is the form to use.

import { type EffectRuntime, ToolEffect } from "../../effects/index.js";
import { TransientContext } from "../../effects/transient-context.js";
import { type AgentDefinition, invalidOption, isAgentDefinition, unwrapTainted } from "../../kernel/index.js";
import {
  addUsage,
  type LlmMessage,
  type LlmProvider,
  type LlmResponse,
  type LlmToolCall,
  type LlmUsage,
} from "../../llm/index.js";
import { emptyAnswer, turnLimit } from "../errors.js";
import { type AgentLoopInput, checkLoopInput, DEFAULTS } from "../loop-config.js";
import { ToolMenu } from "../menu/tool-menu.js";
import { createLlmEffect } from "../model/model-effect.js";
import type { AgentResult } from "../result.js";
import { asMade } from "../tools/answer-calls.js";
import { type Call, type RunnableCall, readCalls } from "../tools/call.js";
import { CallLog } from "../tools/call-log.js";
import { describeFailure, detailsOf, isFinal } from "../tools/failures.js";
import { failed, resulted, type ShownAnswer, toolMessage } from "../tools/tool-answer.js";
import { requestOf } from "../transcript/request-of.js";
import { assistantMessage, callIdsOf, emptinessOf, readAnswer, withOwnIds } from "../turn/answer.js";
import { factsOf, firstMessages } from "../turn/begin-run.js";
import { NestedCalls, nested, type OuterContext } from "./nested-calls.js";

export interface AgentRunnerOptions {
  readonly agent: AgentDefinition;
  /** Asked directly: the request is guarded, and nothing else of the ring applies to it. */
  readonly provider: LlmProvider;
  /** Has the effects of the agent's tools, and the ring around them. */
  readonly effectRuntime: EffectRuntime;
  /** Default: the agent's. */
  readonly systemPrompt?: string;
  /** Turns at most; then it fails with AGENT_TURN_LIMIT. Default 25. */
  readonly maxIterations?: number;
  /** Lets tools run that say `idempotent: false`, though a crash runs them again. Default false: they are refused. */
  readonly acceptAtLeastOnce?: boolean;
}

const { maxCallsPerTurn, maxToolResultBytes } = DEFAULTS;

/** @deprecated Use `agentLoop$`: each turn and each call is a step of its own there. */
export class AgentRunner {
  readonly #options: AgentRunnerOptions;
  readonly #model: ReturnType<typeof createLlmEffect>;
  readonly #menu: ToolMenu;
  readonly #calls: NestedCalls;

  /** @throws CONFIG_INVALID for options that are none, and for tools of kind "human": there is nobody to ask inside an effect */
  constructor(options: AgentRunnerOptions) {
    const { agent, provider, effectRuntime, acceptAtLeastOnce = false } = options;
    if (!isAgentDefinition(agent))
      throw invalidOption("AgentRunner: agent", "must be an agent, as agent$ gives it");
    const human = agent.tools.find(({ kind }) => kind === "human");
    if (human)
      throw invalidOption(
        "AgentRunner: agent",
        `has the tool ${human.id}, which a person answers: use agentLoop$`,
      );
    this.#options = options;
    this.#model = createLlmEffect(provider);
    this.#menu = new ToolMenu({
      tools: new Map(agent.tools.map((tool) => [tool.id, tool])),
      trust: false,
      onChange: () => {},
    });
    this.#menu.add(this.#menu.offer(agent.tools));
    this.#calls = new NestedCalls(effectRuntime, acceptAtLeastOnce);
  }

  /**
   * Runs the agent until it answers.
   *
   * @param ctx of the effect or the handler it runs in. Default: none, and then nothing counts what it uses
   * @throws IdempotentToolRefusedError, UntrustedContextError, AGENT_TURN_LIMIT, AGENT_EMPTY_ANSWER, and what the model fails with
   */
  async run(
    input: AgentLoopInput | string,
    ctx: OuterContext = new TransientContext(this.#options.agent.id, "tool", undefined),
  ): Promise<AgentResult> {
    const { agent, maxIterations = DEFAULTS.maxIterations } = this.#options;
    const run = new Run(typeof input === "string" ? { prompt: input } : input);
    for (let turn = 0; turn < maxIterations; turn++) {
      const response = await this.#ask(run, turn, ctx);
      if (!response.toolCalls?.length) return run.result(response, turn + 1);
      await this.#answer(run, turn, ctx);
    }
    throw turnLimit(agent.id, maxIterations);
  }

  /** As an effect: a step that names it runs the agent. It takes what `run` takes. */
  asEffect(): ToolEffect<AgentLoopInput | string, AgentResult> {
    return new ToolEffect((input, ctx) => this.run(input, ctx));
  }

  async #ask(run: Run, turn: number, ctx: OuterContext): Promise<LlmResponse> {
    const { agent, systemPrompt = agent.systemPrompt } = this.#options;
    const system = [systemPrompt, run.facts].filter((text) => text !== undefined).join("\n\n");
    const request = requestOf([...run.messages], system === "" ? undefined : system, this.#menu.specs);
    const inner = nested(ctx, { toolId: agent.id, taskKind: "llm", idempotencyKey: ctx.idempotencyKey });
    const response = readAnswer(ctx.stepId, await this.#model.execute(request, inner));
    run.take(response, turn);
    if (response.usage) ctx.meter({ tokens: response.usage.inputTokens + response.usage.outputTokens });
    const emptiness = emptinessOf(response);
    if (emptiness) throw emptyAnswer(agent.id, turn, 1, emptiness);
    return response;
  }

  async #answer(run: Run, turn: number, ctx: OuterContext): Promise<void> {
    const menu = { menu: this.#menu, metaTools: new Map<string, never>() };
    const calls = readCalls(run.toolCalls, `${ctx.stepId}:turn:${turn}`, menu, maxCallsPerTurn);
    this.#calls.check(calls.filter((call): call is RunnableCall => call.kind === "runnable"));
    for (const [position, call] of calls.entries()) {
      ctx.signal.throwIfAborted();
      run.answer(call, turn, await this.#outcome(call, { turn, position }, ctx));
    }
  }

  async #outcome(
    call: Call,
    place: { readonly turn: number; readonly position: number },
    ctx: OuterContext,
  ): Promise<ShownAnswer> {
    if (call.kind === "wrong") return failed(call, call.error, false);
    try {
      return resulted(call, await this.#calls.make(call as RunnableCall, place, ctx), maxToolResultBytes);
    } catch (error) {
      if (ctx.signal.aborted || isFinal(error)) throw error;
      return failed(call, describeFailure(error), true, detailsOf(error));
    }
  }
}

/** What one run knows. It is in memory, and gone with it. */
class Run {
  readonly messages: LlmMessage[];
  readonly facts: string | undefined;
  #toolCalls: readonly LlmToolCall[] = [];
  #usage: LlmUsage | undefined;
  readonly #log = new CallLog(maxToolResultBytes);
  readonly #ids: Set<string>;

  constructor(input: AgentLoopInput) {
    checkLoopInput(input);
    this.facts = factsOf(input);
    this.messages = [...firstMessages(input)];
    this.#ids = new Set(callIdsOf(this.messages));
  }

  /** Those of the last answer, with ids that tell them apart. */
  get toolCalls(): readonly LlmToolCall[] {
    return this.#toolCalls;
  }

  take(response: LlmResponse, turn: number): void {
    const message = withOwnIds(assistantMessage(response), turn, this.#ids);
    this.#usage = addUsage(this.#usage, response.usage);
    this.#toolCalls = asMade({ response, message });
    this.messages.push(message);
  }

  answer(call: Call, turn: number, answer: ShownAnswer): void {
    this.messages.push(toolMessage(call, answer));
    this.#log.add(call, turn, answer, Buffer.byteLength(unwrapTainted<string>(answer.content)));
  }

  result({ content, stopReason }: LlmResponse, iterations: number): AgentResult {
    const usage = this.#usage;
    return { content, iterations, toolCallLog: this.#log.entries, ...(usage && { usage }), stopReason };
  }
}
