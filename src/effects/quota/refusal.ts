// Refusals: a budget that is used up, in the words of errors and events. Nothing here names a tenant: those are facts of
// principals, which no log shows.

import { HeddleError, hasCode, type Meter } from "../../kernel/index.js";
import type { Budget, BudgetScope, OnExceeded } from "./budget.js";

/** Which budget was used up; what the event QUOTA_EXCEEDED says. */
export interface Exceeded {
  /** "call" for the budget of one call (`streamTokenBudget`). */
  readonly scope: BudgetScope | "call";
  readonly meter: Meter;
  readonly limit: number;
  readonly used: number;
}

/** Why an attempt is not let through. Plain data: it crosses from the host to partition threads. */
export interface Refusal extends Exceeded {
  readonly scope: BudgetScope;
  readonly perMs: number | undefined;
  readonly onExceeded: OnExceeded;
  /** When there is room again, milliseconds since the epoch; undefined: never. */
  readonly opensAt: number | undefined;
}

/** How a refusal gets from its layer to the executor. It never leaves the ring. */
export class QuotaRefused extends Error {
  override name = "QuotaRefused";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super("The attempt is over a budget.");
    this.refusal = refusal;
  }
}

/** What a Date can say. */
const LAST_MOMENT = 8.64e15;

/** @param stepId the step whose attempt was refused or cut off */
export function quotaError(stepId: string, exceeded: Exceeded & Partial<Refusal>): HeddleError {
  const { scope, meter, limit, used, perMs, opensAt } = exceeded;
  const per = perMs === undefined ? "" : ` per ${perMs} ms`;
  const until =
    opensAt === undefined || opensAt > LAST_MOMENT
      ? "It never has room again by itself"
      : `It has room again at ${new Date(opensAt).toISOString()}`;
  const message = `Step ${stepId} did not run: of the ${limit} ${UNITS[meter]}${per} that the ${scope} may use, ${used} are used. ${until}; raise it in execution.envelope.budgets.`;
  return new HeddleError("QUOTA_EXCEEDED", message, {
    details: { stepId, scope, meter, limit, used, ...(opensAt !== undefined && { opensAt }) },
  });
}

const UNITS: { readonly [M in Meter]: string } = {
  calls: "calls",
  tokens: "tokens",
  cost: "units of cost",
  wallMs: "ms of wall time",
};

/** Whose use, of what, an error QUOTA_EXCEEDED is about, also when it comes from an effect or from another thread. */
export function exceededBy(error: unknown): Exceeded | undefined {
  if (!hasCode(error, "QUOTA_EXCEEDED")) return undefined;
  const { scope, meter, limit, used } = ((error as { details?: unknown }).details ?? {}) as Partial<Exceeded>;
  if (typeof scope !== "string" || typeof meter !== "string") return undefined;
  if (typeof limit !== "number" || typeof used !== "number" || !(limit >= 0) || !(used >= 0))
    return undefined;
  return { scope, meter, limit, used };
}

const SEVERITY: { readonly [A in OnExceeded]: number } = { throttle: 0, reject: 1, end: 2 };

/** The one that decides, of two: an end before a rejection before a wait, and of two waits the longer. */
export function graver(one: Refusal | undefined, other: Refusal): Refusal {
  if (!one) return other;
  const difference = SEVERITY[other.onExceeded] - SEVERITY[one.onExceeded];
  return difference > 0 || (difference === 0 && (other.opensAt ?? 0) > (one.opensAt ?? 0)) ? other : one;
}

export function refusalOf(budget: Budget, used: number, opensAt: number | undefined): Refusal {
  const { scope, meter, limit, perMs, onExceeded = "reject" } = budget;
  return { scope, meter, limit, used, perMs, onExceeded, opensAt };
}
