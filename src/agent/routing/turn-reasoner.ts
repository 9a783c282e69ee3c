// What a loop needs of whoever chooses among several models. `ReasoningRuntime` of heddle/reasoning is one; the loop knows no more
// of it than this.

import type { ExecutionContext } from "../../kernel/index.js";
import type { LlmProvider, LlmRequest, LlmResponse } from "../../llm/index.js";

/** One model among several. */
export interface ModelRoute {
  readonly id: string;
  readonly provider: LlmProvider;
}

/** Asks the model of a route, and has the answer recorded. `attempt` is 0 for the first route of a request. */
export type RouteCall = (routeId: string, attempt: number) => Promise<LlmResponse>;

export interface TurnReasonOptions {
  /** Records what is chosen, so that a replay is served it. */
  readonly decide: ExecutionContext["decide"];
  /** Names the choices in the log. */
  readonly id: string;
  /** Who asks the models. Default: the runtime asks the provider of the route itself, and records the answer as a decision. */
  readonly call?: RouteCall;
  readonly signal?: AbortSignal;
}

export interface RoutedResponse extends LlmResponse {
  /** The route whose answer this is. */
  readonly modelId: string;
  /** How many routes were asked before it. */
  readonly attempt: number;
}

export interface TurnReasoner {
  readonly routes: readonly ModelRoute[];
  reason(request: LlmRequest, options: TurnReasonOptions): Promise<RoutedResponse>;
}

/** The id of the effect that asks the model of a route, among those registered under `reasoningToolId`. */
export function routeToolId(reasoningToolId: string, routeId: string): string {
  return `${reasoningToolId}:${routeId}`;
}

/** The id of the step that asks the route of an attempt, in the turn of a step's id. */
export function tierStepId(stepId: string, attempt: number): string {
  return attempt === 0 ? stepId : `${stepId}:tier:${attempt}`;
}
