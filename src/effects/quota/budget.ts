// Budgets: how much may be used, by whom and in what time, and what becomes of a step that would use more.

import { invalidOption, type Meter } from "../../kernel/index.js";

export type BudgetScope = "execution" | "flow" | "tenant";

/**
 * `reject`: the step fails with QUOTA_EXCEEDED, which its flow may catch. `throttle`: the attempt waits in the log until its
 * window has room. `end`: the execution fails with QUOTA_EXCEEDED, whatever its flow would catch.
 */
export type OnExceeded = "reject" | "throttle" | "end";

export interface Budget {
  /** Whose use is added up: one execution's, or that of all executions of a flow or of a tenant (`principal.tenant`). */
  readonly scope: BudgetScope;
  /** Only for this flow (its id), or for this tenant. Default: each of them has the limit to itself. */
  readonly of?: string | undefined;
  readonly meter: Meter;
  /** Of calls a whole number of at least 1, of anything else a number over 0. */
  readonly limit: number;
  /**
   * For each window of so many milliseconds, 1 to 1e12; windows begin at multiples of it since the epoch. Default: for all time.
   */
  readonly perMs?: number | undefined;
  /** Default "reject". "throttle" needs `perMs`. */
  readonly onExceeded?: OnExceeded | undefined;
}

const SCOPES: readonly BudgetScope[] = ["execution", "flow", "tenant"];
const METERS: readonly Meter[] = ["calls", "tokens", "cost", "wallMs"];
const ANSWERS: readonly OnExceeded[] = ["reject", "throttle", "end"];
/** Some thirty years: beyond it times can hardly be written down. */
const WINDOW_MAX = 1e12;
const FIELDS = ["scope", "of", "meter", "limit", "perMs", "onExceeded"];

/** @throws CONFIG_INVALID, naming `option` and the place in it */
export function readBudgets(option: string, value: unknown): readonly Budget[] {
  if (!Array.isArray(value)) throw invalidOption(option, "must be a list of budgets");
  return value.map((budget: unknown, i) => readBudget(`${option}[${i}]`, budget));
}

function readBudget(place: string, value: unknown): Budget {
  if (typeof value !== "object" || value === null)
    throw invalidOption(place, "is no budget: write { scope, meter, limit }");
  const unknown = Object.keys(value).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    throw invalidOption(`${place}.${unknown}`, `is no field of a budget: ${FIELDS.join(", ")}`);
  const budget = value as Budget;
  const { scope, of, meter, limit, perMs, onExceeded = "reject" } = budget;
  checkOneOf(`${place}.scope`, scope, SCOPES);
  checkOneOf(`${place}.meter`, meter, METERS);
  checkOneOf(`${place}.onExceeded`, onExceeded, ANSWERS);
  if (of !== undefined && scope === "execution")
    throw invalidOption(
      `${place}.of`,
      "names a flow or a tenant: a budget of executions holds for each of them",
    );
  if (of !== undefined && (typeof of !== "string" || of === ""))
    throw invalidOption(`${place}.of`, "must be the id of a flow or the name of a tenant");
  const isWhole = meter !== "calls" || Number.isInteger(limit);
  if (!Number.isFinite(limit) || limit <= 0 || !isWhole)
    throw invalidOption(
      `${place}.limit`,
      `must be a ${meter === "calls" ? "whole number of at least 1" : "number over 0"}`,
    );
  if (perMs !== undefined && !(typeof perMs === "number" && perMs >= 1 && perMs <= WINDOW_MAX))
    throw invalidOption(`${place}.perMs`, `must be a number of milliseconds from 1 to ${WINDOW_MAX}`);
  if (onExceeded === "throttle" && perMs === undefined)
    throw invalidOption(
      `${place}.perMs`,
      "is missing: an attempt that is throttled waits for the next window",
    );
  return Object.freeze({ ...budget, onExceeded });
}

function checkOneOf(place: string, value: unknown, known: readonly string[]): void {
  if (typeof value === "string" && known.includes(value)) return;
  throw invalidOption(place, `must be one of ${known.map((name) => `"${name}"`).join(", ")}`);
}
