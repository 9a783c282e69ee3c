// Ledger: what has been used under the budgets of a process, and who may use more.
//
// Owns       the totals of flows and tenants, all partitions together.
// Leaves     durability to the partitions: they bring in what their logs hold, and take away the rows to write.
//
// L1  An attempt that is let through counts at once, before its effect runs: a thousand that ask together do not pass a
//     limit of ten. Looking and counting are one turn.
// L2  What a call used becomes a row in the commit that records its outcome, or not at all.
// L3  A partition's share is replaced whole when its log is read (again): what was counted and did not become durable is gone.

import type { Meter, MeterRow } from "../../kernel/index.js";
import type { Budget, BudgetScope } from "./budget.js";
import { graver, type Refusal } from "./refusal.js";
import { Spender, type Subject } from "./spender.js";
import type { Used } from "./tally.js";
import { Total } from "./total.js";

/** Which total. */
export interface BudgetQuery {
  readonly scope: BudgetScope;
  /** The id of the flow or execution, or the name of the tenant. */
  readonly of: string;
  readonly meter: Meter;
  /** Of the present window of a budget with this `perMs`. Default: of all time. */
  readonly perMs?: number | undefined;
}

/** How one budget stands for one of those it holds for. */
export interface BudgetStanding {
  readonly budget: Budget;
  readonly of: string;
  readonly used: number;
}

/** Budgets to look at: `app.envelope.ledger`. */
export interface BudgetLedger {
  /**
   * What is used, calls under way included. Of executions: of those in memory in this thread; of any other, its state has
   * `usage`. 0 for what nobody has used.
   */
  used(query: BudgetQuery): number;
  /** Every flow and tenant that a budget holds for and that has used anything. */
  list(): readonly BudgetStanding[];
}

type SharedScope = MeterRow["scope"];

const ALL_TIME = 0;

export class Ledger implements BudgetLedger {
  readonly budgets: readonly Budget[];
  readonly #now: () => number;
  /** Of flows and tenants, by scope and name. */
  readonly #shared = new Map<string, readonly Total[]>();
  /** Of executions in memory, by their ids. */
  readonly #own = new Map<string, readonly Total[]>();
  /** What the next commit of a partition has to write. */
  readonly #changed = new Map<number, Set<Total>>();

  /** @param now milliseconds since the epoch */
  constructor(budgets: readonly Budget[], now: () => number) {
    this.budgets = budgets;
    this.#now = now;
  }

  // BudgetLedger

  used({ scope, of, meter, perMs = ALL_TIME }: BudgetQuery): number {
    const totals = scope === "execution" ? this.#own.get(of) : this.#shared.get(nameOf(scope, of));
    return totals?.find((total) => total.perMs === perMs)?.used(meter, this.#now()) ?? 0;
  }

  list(): readonly BudgetStanding[] {
    const now = this.#now();
    return [...this.#shared.values()]
      .flat()
      .flatMap((total) =>
        total.budgets.map((budget) => ({ budget, of: total.of, used: total.used(budget.meter, now) })),
      );
  }

  // What partitions bring in and take away

  /** What the log of a partition holds. (L3) */
  load(partition: number, rows: readonly MeterRow[]): void {
    for (const total of [...this.#shared.values()].flat()) total.load(partition, undefined);
    for (const row of rows) {
      const total = this.#totalsOf(row.scope, row.of).find(({ perMs }) => perMs === row.perMs);
      total?.load(partition, row); // of a budget there is no more: it stays as it is
    }
    this.#changed.delete(partition);
  }

  /** What has changed since the last time, to be written in the commit that records what was settled. (L2) */
  takeRows(partition: number): readonly MeterRow[] | undefined {
    const changed = this.#changed.get(partition);
    if (!changed) return undefined;
    this.#changed.delete(partition);
    return Array.from(changed, (total) => total.row(partition));
  }

  /** An execution comes into memory. */
  open(executionId: string, subject: Subject): Spender {
    const own = this.#make("execution", executionId);
    this.#own.set(executionId, own);
    return new Spender(subject, own, this.#sharedOf(subject));
  }

  /** A subject without an execution: for calls of which somebody else keeps the executions. */
  openShared(subject: Subject): Spender {
    return new Spender(subject, [], this.#sharedOf(subject));
  }

  /** It leaves memory. */
  forget(executionId: string): void {
    this.#own.delete(executionId);
  }

  // Calls

  /** Asks for one attempt: undefined when it is let through, and then it counts. (L1) */
  admit(spender: Spender, now: number): Refusal | undefined | Promise<Refusal | undefined> {
    return this.admitHere(spender, now);
  }

  /** The same, decided by what is known here. */
  admitHere(spender: Spender, now: number): Refusal | undefined {
    const refusal = this.refusal(spender.totals, now);
    if (!refusal) this.begin(spender, now);
    return refusal;
  }

  begin({ tallies }: Spender, now: number): void {
    for (const tally of tallies) tally.begin(now);
  }

  /**
   * An attempt was lost with its process, and it may have begun: it counts, unless a budget would have kept it from beginning.
   * Returns whether it counts.
   */
  beginLost(spender: Spender, now: number): boolean {
    if (this.refusal(spender.totals, now)) return false;
    this.begin(spender, now);
    return true;
  }

  /** An attempt that was let through then is not made. */
  takeBack({ tallies }: Spender, startedAt: number): void {
    for (const tally of tallies) tally.takeBack(startedAt);
  }

  report({ tallies }: Spender, tokens: number, cost: number): void {
    for (const tally of tallies) tally.report(tokens, cost);
  }

  /** An attempt is over, and the next commit of its partition records that. */
  settle(spender: Spender, used: Used, now: number): void {
    for (const tally of spender.tallies) {
      if (used.startedAt === undefined) tally.restore(used, now);
      else tally.settle(used, now);
    }
    const { partition, totals, own } = spender;
    let changed = this.#changed.get(partition);
    if (!changed) {
      changed = new Set();
      this.#changed.set(partition, changed);
    }
    for (let i = own.length; i < totals.length; i++) changed.add(totals[i]!);
  }

  protected refusal(totals: readonly Total[], now: number): Refusal | undefined {
    let refusal: Refusal | undefined;
    for (const total of totals) {
      if (total.budgets.length === 0) continue;
      const found = total.refusal(now);
      if (found) refusal = graver(refusal, found);
    }
    return refusal;
  }

  #sharedOf({ flowId, tenant }: Subject): readonly Total[] {
    const totals = this.#totalsOf("flow", flowId);
    return tenant === undefined ? totals : [...totals, ...this.#totalsOf("tenant", tenant)];
  }

  #totalsOf(scope: SharedScope, of: string): readonly Total[] {
    const name = nameOf(scope, of);
    let totals = this.#shared.get(name);
    if (!totals) {
      totals = this.#make(scope, of);
      this.#shared.set(name, totals);
    }
    return totals;
  }

  /** One for each length of window there is a budget for, and one of all time. */
  #make(scope: BudgetScope, of: string): readonly Total[] {
    const budgets = this.budgets.filter((budget) => budget.scope === scope && (budget.of ?? of) === of);
    const lengths = new Set([ALL_TIME, ...budgets.map(({ perMs }) => perMs ?? ALL_TIME)]);
    return Array.from(
      lengths,
      (length) =>
        new Total(
          scope,
          of,
          length,
          budgets.filter(({ perMs }) => (perMs ?? ALL_TIME) === length),
        ),
    );
  }
}

function nameOf(scope: SharedScope, of: string): string {
  return `${scope} ${of}`;
}
