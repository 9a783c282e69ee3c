// Spender: one execution as budgets see it. Made with its first attempt, so that a further call looks up nothing.

import type { Used } from "../../kernel/index.js";
import type { OwnTotal } from "./own-total.js";
import type { SharedTotals, Subject } from "./shared-totals.js";

/** Who counts what it uses. */
export interface Bookkeeper {
  /** A call under way says what it has used beyond what it said before. */
  report(spender: Spender, tokens: number, cost: number): void;
  /** A call that was let through then is not made. */
  takeBack(spender: Spender, startedAt: number): void;
  /** A call was lost with its process, and it may have begun. Returns whether it counts. */
  beginLost(spender: Spender, now: number): boolean;
}

export class Spender {
  readonly keeper: Bookkeeper;
  /** What it has used itself: that folds from its log. */
  readonly own: readonly OwnTotal[];
  /** What its flow and its tenant have used. */
  readonly shared: SharedTotals;

  constructor(keeper: Bookkeeper, own: readonly OwnTotal[], shared: SharedTotals) {
    this.keeper = keeper;
    this.own = own;
    this.shared = shared;
  }

  get subject(): Subject {
    return this.shared.subject;
  }

  /** A call that stands in its log. `at`: when that was recorded. */
  restore(used: Used, at: number): void {
    for (const total of this.own) total.restore(used, at);
  }
}
