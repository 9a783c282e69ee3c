// Total: what one subject has used in one kind of window, over all partitions, and the budgets that look at it.

import type { Meter, MeterRow } from "../../kernel/index.js";
import type { Budget, BudgetScope } from "./budget.js";
import { graver, type Refusal, refusalOf } from "./refusal.js";
import { Tally } from "./tally.js";

export class Total {
  readonly scope: BudgetScope;
  readonly of: string;
  readonly perMs: number;
  readonly budgets: readonly Budget[];
  /** By partition. Each is written by the owner of that partition, and read again when its log is. */
  readonly #shares = new Map<number, Tally>();
  /** The window that waiting attempts were last told to come back in, and how many were. */
  #bookings: Map<Budget, { readonly window: number; readonly count: number }> | undefined;

  constructor(scope: BudgetScope, of: string, perMs: number, budgets: readonly Budget[]) {
    this.scope = scope;
    this.of = of;
    this.perMs = perMs;
    this.budgets = budgets;
  }

  share(partition: number): Tally {
    let share = this.#shares.get(partition);
    if (!share) {
      share = new Tally(this.perMs);
      this.#shares.set(partition, share);
    }
    return share;
  }

  /** Puts what a log says in the place of what was known of its partition. */
  load(partition: number, row: MeterRow | undefined): void {
    this.#shares.set(partition, new Tally(this.perMs, row?.windowStart, row));
  }

  row(partition: number): MeterRow {
    const { scope, of, perMs } = this;
    const { windowStart, kept } = this.share(partition);
    return { scope: scope as MeterRow["scope"], of, perMs, windowStart, ...kept };
  }

  used(meter: Meter, now: number): number {
    let sum = 0;
    for (const share of this.#shares.values()) sum += share.used(meter, now);
    return sum;
  }

  /** The budget that keeps a call from beginning now, if one does. */
  refusal(now: number): Refusal | undefined {
    let refusal: Refusal | undefined;
    for (const budget of this.budgets) {
      const used = this.used(budget.meter, now);
      // How many calls there will be is known before; what they will use is not.
      const hasRoom = budget.meter === "calls" ? used + 1 <= budget.limit : used < budget.limit;
      if (!hasRoom) refusal = graver(refusal, refusalOf(budget, used, this.#opensAt(budget, now)));
    }
    return refusal;
  }

  /** The next window that has room, as far as is known. Waiting calls spread over the windows, so that few wait twice. */
  #opensAt(budget: Budget, now: number): number | undefined {
    const { perMs, meter, limit, onExceeded } = budget;
    if (perMs === undefined) return undefined;
    const next = now - (now % perMs) + perMs;
    if (onExceeded !== "throttle" || meter !== "calls") return next;
    this.#bookings ??= new Map();
    const last = this.#bookings.get(budget);
    const isNew = !last || last.window < next;
    const isFull = last !== undefined && last.count >= limit;
    const window = isNew ? next : isFull ? last.window + perMs : last.window;
    this.#bookings.set(budget, { window, count: isNew || isFull ? 1 : last.count + 1 });
    return window;
  }
}
