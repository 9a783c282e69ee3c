// Who is asked in a turn: one model, by its effect, or whoever a runtime of several models chooses.

import { AgentLoopConfigError } from "../errors.js";
import { warn } from "../warnings.js";
import { reasoningMustContinue } from "./continuation-rule.js";
import type { TurnReasoner } from "./turn-reasoner.js";

export interface ModelChoice {
  /** The effect that is the model. */
  readonly modelToolId?: string;
  /** Several models in its place, and who of them is asked: a `ReasoningRuntime` of heddle/reasoning. */
  readonly reasoning?: TurnReasoner;
  /** The effects that are its routes, as `registerReasoningRoutes` names them. Default: it asks its models outside of the ring. */
  readonly reasoningToolId?: string;
  /** Refuses to drop what models think. Default: what `observability.reasoning` says, or false. */
  readonly requireReasoningContinuation?: boolean;
}

interface Circumstances extends ModelChoice {
  readonly turnTimeoutMs?: number;
  readonly onWarn?: (message: string) => void;
}

/** Says what is wrong with a runtime, in words that follow on the option's name. */
export function reasonerComplaint(value: unknown): string | undefined {
  const { reason, routes } = (value ?? {}) as Partial<TurnReasoner>;
  return typeof reason === "function" && Array.isArray(routes)
    ? undefined
    : "must be a ReasoningRuntime of heddle/reasoning";
}

/** @throws AgentLoopConfigError where there is no model to ask, or two ways to ask, or reasoning would be dropped that may not be */
export function checkModelChoice(config: Circumstances): void {
  const { modelToolId, reasoning, reasoningToolId, turnTimeoutMs } = config;
  if (!reasoning) {
    if (reasoningToolId !== undefined)
      throw new AgentLoopConfigError(
        "reasoningToolId",
        "names the routes of a runtime: give it as reasoning",
      );
    if (modelToolId === undefined)
      throw new AgentLoopConfigError("modelToolId", "is missing: without it there is no model to ask");
    return;
  }
  if (modelToolId !== undefined)
    throw new AgentLoopConfigError(
      "reasoning",
      "goes without modelToolId: it chooses among models of its own",
    );
  if (reasoningToolId !== undefined) return;
  if (turnTimeoutMs !== undefined)
    throw new AgentLoopConfigError(
      "turnTimeoutMs",
      "is for a model that is asked in a step: give reasoningToolId, as registerReasoningRoutes has it",
    );
  checkContinuation(reasoning, config);
}

/** The choice of an agent for those it calls; nothing for one that has its own. */
export function inheritedChoice(outer: ModelChoice, own: ModelChoice): ModelChoice {
  if (own.modelToolId !== undefined || own.reasoning) return {};
  const { modelToolId, reasoning, reasoningToolId } = outer;
  return {
    ...(modelToolId !== undefined && { modelToolId }),
    ...(reasoning && { reasoning }),
    ...(reasoningToolId !== undefined && { reasoningToolId }),
  };
}

/** Who was told of a runtime whose models' reasoning is dropped: once is enough. */
const told = new WeakSet<TurnReasoner>();

function checkContinuation(reasoning: TurnReasoner, config: Circumstances): void {
  const route = reasoning.routes.find(({ provider }) => provider.capabilities.reasoning);
  if (!route) return;
  const { requireReasoningContinuation = false, onWarn } = config;
  const fact = `route ${route.id} asks a model that reasons (${route.provider.id}), and without reasoningToolId its reasoning is dropped each turn`;
  if (requireReasoningContinuation || reasoningMustContinue())
    throw new AgentLoopConfigError(
      "reasoning",
      `may not drop what models think: ${fact}. Register the routes by registerReasoningRoutes, and give reasoningToolId`,
    );
  if (told.has(reasoning)) return;
  told.add(reasoning);
  const message = `In an agent's reasoning runtime ${fact}. Give reasoningToolId to keep it.`;
  warn(onWarn, "LOOM_AGENT_REASONING_DISCARDED", message);
}
