// SharedTotals: where the executions of one flow and one tenant count together, in one partition. Made once for all of them.

import type { Tally } from "./tally.js";
import type { Total } from "./total.js";

/** Whose use it is. */
export interface Subject {
  /** The partition that counts it. */
  readonly partition: number;
  readonly flowId: string;
  readonly tenant: string | undefined;
}

export class SharedTotals {
  readonly subject: Subject;
  readonly totals: readonly Total[];
  /** The partition's own share of each. */
  readonly tallies: readonly Tally[];
  /** Whether any budget looks at them. */
  readonly isBounded: boolean;
  /** Whether the partition's next commit has to write them. */
  isChanged = false;
  /** Whether the partition's log was read again since: what is counted here is in no total any more. */
  isVoid = false;

  constructor(subject: Subject, totals: readonly Total[]) {
    this.subject = subject;
    this.totals = totals;
    this.tallies = totals.map((total) => total.share(subject.partition));
    this.isBounded = totals.some(({ line }) => line.budgets.length > 0);
  }
}
