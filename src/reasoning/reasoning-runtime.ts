// ReasoningRuntime: asks the cheapest model that may do, and a stronger one when the answer is not to be trusted.
//
// Owns       the routes, the order in which they are asked, and when to go on to the next.
// Leaves     the call itself to the ring where it is told how to call (`call`), and to the provider of the route where it is not.
//
// R1  With `decide`, everything that is chosen is recorded: the first route, and for each answer its confidence and who is asked next.
//     A replay asks no router, no signal and no model, whatever they would say by now.
// R2  Called directly, an answer is recorded with its verdict as one decision: a crash costs the call that was under way. Such a call is
//     guarded at the prompt boundary and goes through nothing else of the ring, and nothing is kept of the model's reasoning.
// R3  A recorded route need not be there any more; only asking it needs it.

import type { RouteCall, RoutedResponse, TurnReasoner } from "../agent/index.js";
import { checkFunction, type ExecutionContext, HeddleError, invalidOption } from "../kernel/index.js";
import { addUsage, guardRequest, type LlmRequest, type LlmResponse, type LlmUsage } from "../llm/index.js";
import { type ConfidenceSignal, checkConfidence, stopReasonConfidence } from "./confidence.js";
import {
  checkedRoutes,
  type ReasoningRequest,
  type ReasoningRoute,
  type ReasoningRouter,
  strongerRoute,
  tagRouter,
} from "./route.js";

export interface ReasoningRuntimeOptions {
  readonly routes: readonly ReasoningRoute[];
  /** Who is asked first. Default `tagRouter`. */
  readonly router?: ReasoningRouter;
  /** How much an answer is to be trusted. Default `stopReasonConfidence`. */
  readonly confidence?: ConfidenceSignal;
  /** An answer below it is not taken while there is a stronger route. Default 0.5. */
  readonly elevateThreshold?: number;
}

export interface ReasonOptions {
  /** `ctx.decide` of a flow. Without it nothing is recorded; in a flow it is needed. */
  readonly decide?: ExecutionContext["decide"];
  /** Names the decisions: `<id>:route`, `<id>:answer:<n>` or `<id>:verdict:<n>`. Default "reasoning". */
  readonly id?: string;
  /** Who asks a model. Default: this runtime, directly. */
  readonly call?: RouteCall;
  /** Aborts a direct call. */
  readonly signal?: AbortSignal;
}

/** One answer on the way to the last. */
export interface TraceEntry {
  readonly modelId: string;
  readonly tier: number;
  readonly confidence: number;
  /** Whether it was reached because an answer before it was not to be trusted. */
  readonly elevated: boolean;
}

/** The last answer, and how it was come to. `usage` is that of all answers together. */
export interface ReasoningResult extends RoutedResponse {
  readonly elevated: boolean;
  readonly trace: readonly TraceEntry[];
}

/** A route as it is recorded. */
interface Rung {
  readonly modelId: string;
  readonly tier: number;
}

interface Verdict {
  readonly confidence: number;
  /** Who is asked next. Null: this answer is taken. */
  readonly next: Rung | null;
}

interface Answer extends Verdict {
  readonly response: LlmResponse;
}

/** One request on its way: what is asked, of whom, and where what is chosen is recorded. */
interface Question extends ReasonOptions {
  readonly request: LlmRequest;
  readonly strategy: string | undefined;
  readonly routes: readonly ReasoningRoute[];
  readonly decide: ExecutionContext["decide"];
  readonly id: string;
}

const SOURCE = "reasoning-runtime";

export class ReasoningRuntime implements TurnReasoner {
  /** By tier. */
  readonly routes: readonly ReasoningRoute[];
  readonly #router: ReasoningRouter;
  readonly #confidence: ConfidenceSignal;
  readonly #elevateThreshold: number;

  /** @throws CONFIG_INVALID or DEFINITION_CONFLICT, naming the option */
  constructor(options: ReasoningRuntimeOptions) {
    const { router = tagRouter, confidence = stopReasonConfidence, elevateThreshold = 0.5 } = options ?? {};
    this.routes = checkedRoutes(options?.routes);
    checkFunction("ReasoningRuntime: router", router);
    checkFunction("ReasoningRuntime: confidence", confidence);
    checkConfidence("ReasoningRuntime: elevateThreshold", elevateThreshold);
    this.#router = router;
    this.#confidence = confidence;
    this.#elevateThreshold = elevateThreshold;
  }

  /**
   * Asks until an answer is to be trusted, or there is nobody stronger to ask.
   *
   * @throws CONFIG_INVALID where no route is within `maxTier`, a router or a signal gives what it may not, or a recorded route that has
   *   yet to answer is gone; what a model fails with
   */
  async reason(asked: ReasoningRequest, options: ReasonOptions = {}): Promise<ReasoningResult> {
    const { strategy, maxTier, ...request } = asked;
    const routes = this.#within(maxTier);
    const question = { decide: undecided, id: "reasoning", ...options, request, strategy, routes };
    let rung = await question.decide(
      `${question.id}:route`,
      async () => rungOf(await this.#first(asked, routes)),
      { source: SOURCE, rationale: { strategy: strategy ?? null, routes: routes.map((route) => route.id) } },
    );
    const trace: TraceEntry[] = [];
    let usage: LlmUsage | undefined;
    for (let attempt = 0; ; attempt++) {
      const { response, confidence, next } = await this.#answer(question, rung, attempt);
      const elevated = attempt > 0;
      usage = addUsage(usage, response.usage);
      trace.push({ ...rung, confidence, elevated });
      if (next === null)
        return { ...response, ...(usage && { usage }), modelId: rung.modelId, attempt, elevated, trace };
      rung = next;
    }
  }

  #within(maxTier = Number.POSITIVE_INFINITY): readonly ReasoningRoute[] {
    const routes = this.routes.filter((route) => route.tier <= maxTier);
    if (routes.length > 0) return routes;
    throw invalidOption(
      "reason: maxTier",
      `must be at least ${this.routes[0]!.tier}, the lowest tier there is`,
    );
  }

  async #first(asked: ReasoningRequest, routes: readonly ReasoningRoute[]): Promise<ReasoningRoute> {
    const chosen = await this.#router(asked, routes);
    if (routes.includes(chosen)) return chosen;
    throw invalidOption("ReasoningRuntime: router", "must give one of the routes it is shown");
  }

  async #answer(question: Question, rung: Rung, attempt: number): Promise<Answer> {
    const { decide, id, call } = question;
    const facts = {
      source: SOURCE,
      rationale: { modelId: rung.modelId, elevateThreshold: this.#elevateThreshold },
    };
    if (!call) {
      const answer = async (): Promise<Answer> => {
        const response = await this.#askDirectly(question, rung);
        return { response, ...(await this.#verdict(question, rung, response)) };
      };
      return decide(`${id}:answer:${attempt}`, answer, facts); // R2
    }
    const response = await call(rung.modelId, attempt);
    const verdict = () => this.#verdict(question, rung, response);
    return { response, ...(await decide(`${id}:verdict:${attempt}`, verdict, facts)) };
  }

  async #verdict(
    { request, strategy, routes }: Question,
    { tier }: Rung,
    response: LlmResponse,
  ): Promise<Verdict> {
    const confidence = await this.#confidence(response, request);
    checkConfidence("ReasoningRuntime: confidence", confidence);
    const next = confidence < this.#elevateThreshold && strongerRoute(tier, strategy, routes);
    return { confidence, next: next ? rungOf(next) : null };
  }

  async #askDirectly({ request, signal }: Question, { modelId }: Rung): Promise<LlmResponse> {
    const route = this.routes.find(({ id }) => id === modelId);
    if (!route) throw gone(modelId); // R3
    const { reasoning: _, ...answer } = await route.provider.complete(
      guardRequest(request),
      signal && { signal },
    );
    return answer;
  }
}

function rungOf({ id, tier }: ReasoningRoute): Rung {
  return { modelId: id, tier };
}

function gone(modelId: string): HeddleError {
  return new HeddleError(
    "CONFIG_INVALID",
    `Route ${modelId} was chosen by an earlier run and is not among the routes any more: add it again.`,
    { details: { modelId } },
  );
}

/** Outside of flows: whoever is to decide decides, and nobody writes it down. */
const undecided: ExecutionContext["decide"] = async (decisionId, decider) =>
  decider({ executionId: "", decisionId });
