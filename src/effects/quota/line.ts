// Line: a kind of window that is counted, with the budgets of that length, and what they say of a further call.

import type { Meter } from "../../kernel/index.js";
import { Bookings } from "./bookings.js";
import type { Budget } from "./budget.js";
import { graver, type Refusal, refusalOf } from "./refusal.js";

export interface Line {
  /** 0: of all time. */
  readonly perMs: number;
  readonly budgets: readonly Budget[];
}

/** What one subject has used in one kind of window. */
export interface Counted {
  readonly line: Line;
  used(meter: Meter, now: number): number;
  /** Of calls that were told to wait; made for the first. */
  bookings: Bookings | undefined;
}

/** One line for each length of window there is a budget for, and one of all time. */
export function linesOf(budgets: readonly Budget[]): readonly Line[] {
  const lengths = new Set([0, ...budgets.map(({ perMs = 0 }) => perMs)]);
  return Array.from(lengths, (length) => ({
    perMs: length,
    budgets: budgets.filter(({ perMs = 0 }) => perMs === length),
  }));
}

/** The gravest refusal of a call that would begin now, what was found before among them; undefined: it may begin. */
export function refusalIn(
  all: readonly Counted[],
  before: Refusal | undefined,
  now: number,
): Refusal | undefined {
  let refusal = before;
  for (const counted of all) {
    for (const budget of counted.line.budgets) {
      const { meter, limit } = budget;
      const used = counted.used(meter, now);
      // How many calls there will be is known before; what they will use is not.
      const hasRoom = meter === "calls" ? used + 1 <= limit : used < limit;
      if (!hasRoom) refusal = graver(refusal, refusalOf(budget, used, opensAt(counted, budget, now)));
    }
  }
  return refusal;
}

/** The next window that has room, as far as is known. */
function opensAt(counted: Counted, budget: Budget, now: number): number | undefined {
  const { perMs, meter, onExceeded } = budget;
  if (perMs === undefined) return undefined;
  const next = now - (now % perMs) + perMs;
  if (onExceeded !== "throttle" || meter !== "calls") return next;
  counted.bookings ??= new Bookings();
  return counted.bookings.book(budget, perMs, next);
}
