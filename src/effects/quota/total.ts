// Total: what one subject has used in one kind of window, over all partitions, and the budgets that look at it.

import type { Meter, MeterRow } from "../../kernel/index.js";
import type { Budget, BudgetScope } from "./budget.js";
import { graver, type Refusal, refusalOf } from "./refusal.js";
import { Tally } from "./tally.js";

/** A kind of window that is counted, with the budgets of that length. */
export interface Line {
  /** 0: of all time. */
  readonly perMs: number;
  readonly budgets: readonly Budget[];
}

/** One line for each length of window there is a budget for, and one of all time. */
export function linesOf(budgets: readonly Budget[]): readonly Line[] {
  const lengths = new Set([0, ...budgets.map(({ perMs = 0 }) => perMs)]);
  return Array.from(lengths, (length) => ({
    perMs: length,
    budgets: budgets.filter(({ perMs = 0 }) => perMs === length),
  }));
}

export class Total {
  readonly scope: BudgetScope;
  readonly of: string;
  readonly line: Line;
  /** By partition. Each is written by the owner of that partition, and read again when its log is. */
  readonly #shares: (Tally | undefined)[] = [];
  /** The window that waiting attempts were last told to come back in, and how many were. */
  #bookings: Map<Budget, { readonly window: number; readonly count: number }> | undefined;

  constructor(scope: BudgetScope, of: string, line: Line) {
    this.scope = scope;
    this.of = of;
    this.line = line;
  }

  share(partition: number): Tally {
    const share = this.#shares[partition];
    if (share) return share;
    return this.#put(partition, new Tally(this.line.perMs));
  }

  /** Puts what a log says in the place of what was known of its partition. */
  load(partition: number, row: MeterRow | undefined): void {
    this.#put(partition, new Tally(this.line.perMs, row?.windowStart, row));
  }

  /** Without holes, which would make it slow. */
  #put(partition: number, share: Tally): Tally {
    while (this.#shares.length <= partition) this.#shares.push(undefined);
    this.#shares[partition] = share;
    return share;
  }

  row(partition: number): MeterRow {
    const { scope, of, line } = this;
    const { windowStart, kept } = this.share(partition);
    return { scope: scope as MeterRow["scope"], of, perMs: line.perMs, windowStart, ...kept };
  }

  used(meter: Meter, now: number): number {
    let sum = 0;
    for (const share of this.#shares) sum += share?.used(meter, now) ?? 0;
    return sum;
  }

  /** The budget that keeps a call from beginning now, if one does. */
  refusal(now: number): Refusal | undefined {
    let refusal: Refusal | undefined;
    for (const budget of this.line.budgets) {
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
