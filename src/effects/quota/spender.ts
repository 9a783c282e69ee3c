// Spender: one execution as budgets see it. Made when it comes into memory, so that a call looks up nothing.

import type { SharedTotals } from "./shared-totals.js";
import type { Tally, Used } from "./tally.js";
import type { Total } from "./total.js";

/** Whose use it is. */
export interface Subject {
  /** The partition that counts it. */
  readonly partition: number;
  readonly flowId: string;
  readonly tenant: string | undefined;
}

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
  readonly subject: Subject;
  /** What it has used itself: that folds from its log. */
  readonly own: readonly Total[];
  /** What its flow and its tenant have used. */
  readonly shared: SharedTotals;

  constructor(keeper: Bookkeeper, subject: Subject, own: readonly Total[], shared: SharedTotals) {
    this.keeper = keeper;
    this.subject = subject;
    this.own = own;
    this.shared = shared;
  }

  /** A call that stands in its log. `at`: when that was recorded. */
  restore(used: Used, at: number): void {
    for (const total of this.own) this.tallyOf(total).restore(used, at);
  }

  /** One of its own has no more than one share. */
  tallyOf(own: Total): Tally {
    return own.share(0);
  }
}
