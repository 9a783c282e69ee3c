// Spender: one execution as budgets see it. Made when it comes into memory, so that a call looks up nothing.

import type { Ledger } from "./ledger.js";
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

export class Spender {
  readonly ledger: Ledger;
  readonly subject: Subject;
  /** What it has used itself: that folds from its log. */
  readonly own: readonly Total[];
  /** What its flow and its tenant have used. */
  readonly shared: SharedTotals;

  constructor(ledger: Ledger, subject: Subject, own: readonly Total[], shared: SharedTotals) {
    this.ledger = ledger;
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
