// Routes: the models there are, and which of them is asked first.

import type { ModelRoute } from "../agent/index.js";
import { checkId, HeddleError, invalidOption } from "../kernel/index.js";
import type { LlmRequest } from "../llm/index.js";

/** A model, and when it is the right one. */
export interface ReasoningRoute extends ModelRoute {
  /** Its place on the ladder: 0 is the cheapest, and stronger models have higher ones. */
  readonly tier: number;
  /** The strategies it is for. A route without tags is for all of them. */
  readonly tags?: readonly string[];
}

/** What the runtime is asked beside what the model is asked. */
export interface ReasoningRequest extends LlmRequest {
  /** What the answer is for, such as "planning": which routes come into question. */
  readonly strategy?: string;
  /** No route of a higher tier is asked. Default: no bound. */
  readonly maxTier?: number;
}

/**
 * Chooses who is asked first. Consulted once for each request; the choice is recorded.
 *
 * @param routes those within `maxTier`, by tier; never empty
 */
export type ReasoningRouter = (
  request: ReasoningRequest,
  routes: readonly ReasoningRoute[],
) => ReasoningRoute | Promise<ReasoningRoute>;

/** The cheapest route that is for the strategy; where none is, the cheapest of all. */
export const tagRouter: ReasoningRouter = ({ strategy }, routes) =>
  routes.find((route) => isFor(route, strategy)) ?? routes[0]!;

/** The next rung: the lowest tier above, among routes for the strategy where there are any. */
export function strongerRoute(
  tier: number,
  strategy: string | undefined,
  routes: readonly ReasoningRoute[],
): ReasoningRoute | undefined {
  const above = routes.filter((route) => route.tier > tier);
  return above.find((route) => isFor(route, strategy)) ?? above[0];
}

function isFor({ tags = [] }: ReasoningRoute, strategy: string | undefined): boolean {
  return strategy === undefined || tags.length === 0 || tags.includes(strategy);
}

/** By tier, and by id where tiers are alike, so that the order of listing decides nothing. */
export function checkedRoutes(routes: unknown): readonly ReasoningRoute[] {
  if (!Array.isArray(routes) || routes.length === 0)
    throw invalidOption("ReasoningRuntime: routes", "must be a list of at least one route");
  const seen = new Set<string>();
  for (const [i, route] of (routes as readonly unknown[]).entries()) {
    const place = `ReasoningRuntime: routes[${i}]`;
    const { id, provider, tier, tags } = (route ?? {}) as Partial<ReasoningRoute>;
    checkId(`${place}.id`, id);
    if (seen.has(id))
      throw new HeddleError("DEFINITION_CONFLICT", `${place}: another route is named ${id}.`, {
        details: { id },
      });
    seen.add(id);
    if (typeof provider?.complete !== "function")
      throw invalidOption(`${place}.provider`, "must be an LlmProvider");
    if (typeof tier !== "number" || !Number.isFinite(tier))
      throw invalidOption(`${place}.tier`, "must be a number");
    if (tags !== undefined && !Array.isArray(tags))
      throw invalidOption(`${place}.tags`, "must be a list of texts");
  }
  return (routes as readonly ReasoningRoute[]).toSorted(
    (a, b) => a.tier - b.tier || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
}
