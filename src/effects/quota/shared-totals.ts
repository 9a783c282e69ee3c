// SharedTotals: where the executions of one flow and one tenant count together, in one partition. Made once for all of them.

import type { Tally } from "./tally.js";
import type { Total } from "./total.js";

export class SharedTotals {
  readonly totals: readonly Total[];
  /** The partition's own share of each. */
  readonly tallies: readonly Tally[];
  /** Whether any budget looks at them. */
  readonly isBounded: boolean;
  /** Whether the partition's next commit has to write them. */
  isChanged = false;
  /** Whether the partition's log was read again since: what is counted here is in no total any more. */
  isVoid = false;

  constructor(partition: number, totals: readonly Total[]) {
    this.totals = totals;
    this.tallies = totals.map((total) => total.share(partition));
    this.isBounded = totals.some(({ line }) => line.budgets.length > 0);
  }
}
