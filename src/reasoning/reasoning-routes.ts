// The routes of a runtime as effects: one each, so that authority, budgets, retries and kill switches tell them apart.

import { type AgentModelOptions, createAgentModelEffect, routeToolId } from "../agent/index.js";
import type { EffectRuntime } from "../effects/index.js";
import { checkId } from "../kernel/index.js";
import type { ReasoningRuntime } from "./reasoning-runtime.js";

export interface ReasoningRoutesOptions extends AgentModelOptions {
  /** What `agentLoop$` is given as `reasoningToolId`: the effects are `<toolId>:<route>`. Default "reasoning". */
  readonly toolId?: string;
}

/**
 * Registers a model effect for each route, as `createAgentModelEffect` makes it. Grants name them one by one (`reasoning:small`) or all
 * together (`reasoning:*`).
 *
 * @throws CONFIG_INVALID for options a model effect refuses, DEFINITION_CONFLICT where an id is taken
 */
export function registerReasoningRoutes(
  effects: EffectRuntime,
  runtime: Pick<ReasoningRuntime, "routes">,
  { toolId = "reasoning", reasoning, ...options }: ReasoningRoutesOptions = {},
): void {
  checkId("registerReasoningRoutes: toolId", toolId);
  for (const { id, provider } of runtime.routes) {
    const ofRoute = reasoning === false ? false : { ...reasoning, route: id };
    effects.register(
      routeToolId(toolId, id),
      createAgentModelEffect(provider, { ...options, reasoning: ofRoute }),
    );
  }
}
