// The effects through which models are called: inside the ring, like everything else that touches the world.
//
// M1  Every request passes the prompt boundary, whoever made it.
// M2  What is recorded of reasoning is parts. Its text is in the content store by then, or nowhere.
// M3  A model that was stopped has answered: what it had written is the result, whole, and marked.

import { type Effect, type EffectContext, type EffectOptions, LlmEffect } from "../../effects/index.js";
import { invalidOption } from "../../kernel/index.js";
import {
  guardRequest,
  LlmError,
  type LlmProvider,
  type LlmRequest,
  type LlmResponse,
} from "../../llm/index.js";
import type { StreamGuard } from "../../middleware/index.js";
import { captureReasoning } from "../evidence/capture.js";
import { continued, menuOf } from "../evidence/continuation.js";
import {
  type Reasoning,
  type ReasoningDefaults,
  type ReasoningOptions,
  reasoningOf,
} from "../evidence/defaults.js";
import { completed, type DeltaSink, type Generated, streamed } from "./generate.js";
import type { ModelResponse } from "./response.js";
import { inUserTurns } from "./user-turns.js";

export interface LlmEffectOptions extends EffectOptions {
  /**
   * Take the answer piece by piece: it can be shown while it is generated, is kept as far as it came when the model is stopped, and
   * is otherwise the same. Default: when something is given below that needs it.
   */
  readonly stream?: boolean | undefined;
  /** Gets the answer's text as it is generated; nothing of that is recorded. See `chunkDeltas` where it costs something. */
  readonly onDelta?: DeltaSink | undefined;
  /** Asked after each piece, with everything generated so far, as `streamTokenBudget` is. When it says no, the call is aborted. */
  readonly guard?: StreamGuard | undefined;
}

export interface AgentModelOptions extends LlmEffectOptions {
  /** False: nothing of the model's reasoning is kept, whatever the app says. */
  readonly reasoning?: ReasoningOptions | false | undefined;
}

/**
 * An effect that asks a model: takes an `LlmRequest`, gives a `ModelResponse` without reasoning.
 *
 * @throws CONFIG_INVALID for options that contradict each other, or ask for a stream of a provider that has none
 */
export function createLlmEffect(
  provider: LlmProvider,
  options: LlmEffectOptions = {},
): LlmEffect<LlmRequest, ModelResponse> {
  return new ModelEffect(provider, { ...options, reasoning: false }, false);
}

/**
 * The model of an agent: register it under the id that `agentLoop$` is given as `modelToolId`. Beside what `createLlmEffect` does it
 * keeps the model's reasoning as evidence, and hands it back to the vendor in the next turn.
 *
 * @throws CONFIG_INVALID for what is no provider, and for options that contradict each other, or ask for a stream of a provider that has
 *   none
 */
export function createAgentModelEffect(
  provider: LlmProvider,
  options: AgentModelOptions = {},
): LlmEffect<LlmRequest, ModelResponse> {
  return new ModelEffect(provider, options, undefined);
}

/**
 * For apps: the effect as it is when the app says this of reasoning. Any other effect is given back as it is, and so is one that has
 * been told before.
 */
export function withReasoningDefaults(effect: Effect, defaults: ReasoningDefaults): Effect {
  return effect instanceof ModelEffect ? effect.within(defaults) : effect;
}

/** For apps, at boot: what is to be said of an effect whose model reasons while nothing of that is kept. */
export function reasoningWarning(
  id: string,
  effect: Effect,
  defaults: ReasoningDefaults | undefined,
): string | undefined {
  return effect instanceof ModelEffect && effect.discardsReasoning(defaults)
    ? `Effect ${id} asks a model that reasons (${effect.provider.id}), and nothing of that is kept: no agent can go on with it, and no ` +
        "auditor can read it. Give the app observability: { reasoning: { store } }, or reasoning: false to have it so."
    : undefined;
}

class ModelEffect extends LlmEffect<LlmRequest, ModelResponse> {
  readonly provider: LlmProvider;
  readonly #options: AgentModelOptions;
  readonly #defaults: ReasoningDefaults | undefined;

  constructor(provider: LlmProvider, options: AgentModelOptions, defaults: ReasoningDefaults | undefined) {
    checkProvider(provider);
    const { reasoning = {} } = options;
    const call = new ModelCall(provider, options, reasoningOf(reasoning, defaults ?? {}));
    super((request, ctx) => call.make(request, ctx), options);
    this.provider = provider;
    this.#options = options;
    this.#defaults = defaults;
  }

  within(defaults: ReasoningDefaults): ModelEffect {
    return this.#defaults === undefined ? new ModelEffect(this.provider, this.#options, defaults) : this;
  }

  discardsReasoning(defaults: ReasoningDefaults = {}): boolean {
    const { reasoning: own = {} } = this.#options;
    const isWanted = defaults !== false && own !== false && own.capture !== false;
    return isWanted && this.provider.capabilities.reasoning === true && !reasoningOf(own, defaults).store;
  }
}

class ModelCall {
  readonly #provider: LlmProvider;
  readonly #reasoning: Reasoning;
  readonly #route: string | undefined;
  readonly #generate: (request: LlmRequest, ctx: EffectContext) => Promise<Generated>;

  constructor(provider: LlmProvider, options: AgentModelOptions, reasoning: Reasoning) {
    const { onDelta, guard } = options;
    const own = options.reasoning || {};
    this.#provider = provider;
    this.#reasoning = reasoning;
    this.#route = own.route;
    const listeners = { text: onDelta, reasoning: reasoning.live ? own.onDelta : undefined };
    this.#generate = isStreamed(provider, options)
      ? (request, ctx) => streamed(provider, request, ctx, { guard, listeners })
      : (request, ctx) => completed(provider, request, ctx);
  }

  async make(request: LlmRequest, ctx: EffectContext): Promise<ModelResponse> {
    const { store } = this.#reasoning;
    const route = this.#route;
    const reader = { executionId: ctx.executionId, provider: this.#provider.id, route, store };
    const guarded = guardRequest(inUserTurns(await continued(request, reader))); // M1
    const { response, isInterrupted } = await this.#generate(guarded, ctx);
    const { reasoning: blocks = [], ...answer } = checkedResponse(response, this.#provider);
    const parts =
      store && blocks.length > 0
        ? await captureReasoning(blocks, store, { route, menu: menuOf(request.tools) }, ctx)
        : [];
    return {
      ...answer,
      ...(parts.length > 0 && { reasoning: parts }), // M2
      ...(isInterrupted && { interrupted: true as const }), // M3
    };
  }
}

function checkProvider(provider: Partial<LlmProvider> | null | undefined): void {
  const { complete, capabilities } = provider ?? {};
  if (typeof complete === "function" && typeof capabilities === "object") return;
  throw invalidOption("provider", "must be an LlmProvider: an object with id, capabilities and complete");
}

/** What is told of pieces is of no use where there are none, and is refused rather than ignored. */
function isStreamed(
  provider: LlmProvider,
  { stream, onDelta, guard, reasoning }: AgentModelOptions,
): provider is LlmProvider & Required<Pick<LlmProvider, "stream">> {
  const needs = [
    ["onDelta", onDelta],
    ["guard", guard],
    ["reasoning.onDelta", reasoning ? reasoning.onDelta : undefined],
  ] as const;
  const needy = needs.find(([, option]) => option !== undefined)?.[0];
  if (stream === false && needy !== undefined)
    throw invalidOption(needy, "needs a stream: leave stream: false out");
  if ((stream ?? needy !== undefined) === false) return false;
  if (typeof provider.stream === "function") return true;
  throw invalidOption(
    needy ?? "stream",
    `needs a provider that streams, and ${provider.id} has no stream function`,
  );
}

/** A provider may be anybody's. */
function checkedResponse(response: LlmResponse, { id }: LlmProvider): LlmResponse {
  if (typeof (response as Partial<LlmResponse> | undefined)?.content === "string") return response;
  throw new LlmError("LLM_RESPONSE_INVALID", `The provider ${id} gave something that is no response.`, {
    provider: id,
  });
}
