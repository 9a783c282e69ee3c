// Spender: one execution as budgets see it. Made when it comes into memory, so that a call looks up nothing.

import type { Tally, Used } from "./tally.js";
import type { Total } from "./total.js";

/** Whose use it is. */
export interface Subject {
  /** The partition that counts it. */
  readonly partition: number;
  readonly flowId: string;
  readonly tenant: string | undefined;
}

export class Spender implements Subject {
  readonly partition: number;
  readonly flowId: string;
  readonly tenant: string | undefined;
  /** Everything its calls count in: its own, its flow's and its tenant's. */
  readonly totals: readonly Total[];
  /** Those that are its own: they fold from its log. */
  readonly own: readonly Total[];
  /** Where its calls are counted in them. A log that is read again has new ones, and what is counted here then is void. */
  readonly tallies: readonly Tally[];

  constructor({ partition, flowId, tenant }: Subject, own: readonly Total[], shared: readonly Total[]) {
    this.partition = partition;
    this.flowId = flowId;
    this.tenant = tenant;
    this.own = own;
    this.totals = [...own, ...shared];
    this.tallies = this.totals.map((total) => total.share(partition));
  }

  /** Whether any budget of flows or tenants holds for it. */
  get isShared(): boolean {
    return this.totals.some(({ scope, budgets }) => scope !== "execution" && budgets.length > 0);
  }

  /** Whether its partition's log was read again since: then its calls count nowhere any more. */
  get isVoid(): boolean {
    return this.totals.at(-1)?.share(this.partition) !== this.tallies.at(-1);
  }

  /** A call that stands in its log. `at`: when that was recorded. */
  restore(used: Used, at: number): void {
    for (const total of this.own) total.share(this.partition).restore(used, at);
  }
}
