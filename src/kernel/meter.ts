// Meters: what is counted of effects, and the totals a log keeps of them.

/**
 * `calls`: attempts that were let through. `tokens` and `cost`: as effects report them, the cost in whatever one currency they
 * use. `wallMs`: how long attempts took, in milliseconds.
 */
export type Meter = "calls" | "tokens" | "cost" | "wallMs";

/** What one attempt used. What nobody reported, or measured, is absent. */
export type Used = {
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
  readonly wallMs?: number | undefined;
  /** When it was let through, milliseconds since the epoch: where budgets are configured. */
  readonly startedAt?: number | undefined;
};

export type Totals = { readonly [M in Meter]: number };

/** The totals of one flow or one tenant over all executions of one partition. */
export interface MeterRow extends Totals {
  readonly scope: "flow" | "tenant";
  /** The id of the flow, or the name of the tenant. */
  readonly of: string;
  /** The length of the window they are of, in milliseconds; 0: of all time. */
  readonly perMs: number;
  /** When that window begins, milliseconds since the epoch; 0 for all time. */
  readonly windowStart: number;
}
