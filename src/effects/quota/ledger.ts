// Ledger: what has been used under the budgets of a process, and who may use more.
//
// Owns       the totals of flows and tenants, all partitions together.
// Leaves     durability to the partitions: they bring in what their logs hold, and take away the rows to write.
//
// L1  An attempt that is let through counts at once, before its effect runs: a thousand that ask together do not pass a
//     limit of ten. Looking and counting are one turn.
// L2  What a call used becomes a row in the commit that records its outcome, or not at all.
// L3  A partition's share is replaced whole when its log is read (again): what was counted and did not become durable is gone.

import type { Meter, MeterRow, Used } from "../../kernel/index.js";
import type { Budget, BudgetScope } from "./budget.js";
import { type Counted, type Line, linesOf, refusalIn } from "./line.js";
import { OwnTotal } from "./own-total.js";
import type { Refusal } from "./refusal.js";
import { SharedTotals, type Subject } from "./shared-totals.js";
import { type Bookkeeper, Spender } from "./spender.js";
import type { Tally } from "./tally.js";
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
  /** Each budget of flows and tenants, for each of those that has used anything or was about to. */
  list(): readonly BudgetStanding[];
}

type SharedScope = MeterRow["scope"];

/** What one execution in memory spends, if anything yet. */
type FindSpender = (executionId: string) => Spender | undefined;

const NOTHING: readonly never[] = [];

export class Ledger implements BudgetLedger, Bookkeeper {
  readonly budgets: readonly Budget[];
  readonly #now: () => number;
  /** What is counted of each execution. */
  readonly #ownLines: readonly Line[];
  /** Of flows and tenants, by scope and name. */
  readonly #totals = new Map<string, readonly Total[]>();
  /** By partition, and then by flow and tenant. */
  readonly #shared = new Map<number, Map<string, SharedTotals>>();
  /** Executions in memory, by partition. */
  readonly #spenders = new Map<number, FindSpender>();
  /** What the next commit of a partition has to write. */
  readonly #changed = new Map<number, SharedTotals[]>();

  /** @param now milliseconds since the epoch */
  constructor(budgets: readonly Budget[], now: () => number) {
    this.budgets = budgets;
    this.#now = now;
    this.#ownLines = linesOf(budgets.filter(({ scope }) => scope === "execution"));
  }

  // BudgetLedger

  used({ scope, of, meter, perMs = 0 }: BudgetQuery): number {
    const totals: readonly Counted[] | undefined =
      scope === "execution" ? this.#ownOf(of) : this.#totals.get(nameOf(scope, of));
    return totals?.find(({ line }) => line.perMs === perMs)?.used(meter, this.#now()) ?? 0;
  }

  list(): readonly BudgetStanding[] {
    const now = this.#now();
    return [...this.#totals.values()]
      .flat()
      .flatMap((total) =>
        total.line.budgets.map((budget) => ({ budget, of: total.of, used: total.used(budget.meter, now) })),
      );
  }

  #ownOf(executionId: string): readonly OwnTotal[] | undefined {
    for (const find of this.#spenders.values()) {
      const spender = find(executionId);
      if (spender) return spender.own;
    }
    return undefined;
  }

  // What partitions bring in and take away

  /** Where to look for the executions of a partition. */
  follow(partition: number, find: FindSpender): void {
    this.#spenders.set(partition, find);
  }

  /** What the log of a partition holds. (L3) */
  load(partition: number, rows: readonly MeterRow[]): void {
    for (const total of [...this.#totals.values()].flat()) total.load(partition, undefined);
    for (const row of rows) {
      const total = this.#totalsOf(row.scope, row.of).find(({ line }) => line.perMs === row.perMs);
      total?.load(partition, row); // of a budget there is no more: it stays as it is
    }
    for (const shared of this.#shared.get(partition)?.values() ?? NOTHING) shared.isVoid = true;
    this.#shared.delete(partition);
    this.#changed.delete(partition);
  }

  /** What has changed since the last time, to be written in the commit that records what was settled. (L2) */
  takeRows(partition: number): readonly MeterRow[] | undefined {
    const changed = this.#changed.get(partition);
    if (!changed) return undefined;
    this.leaveRows(partition);
    const totals = new Set<Total>();
    for (const shared of changed) for (const total of shared.totals) totals.add(total);
    return Array.from(totals, (total) => total.row(partition));
  }

  /** What has changed is for somebody else to write. */
  leaveRows(partition: number): void {
    for (const shared of this.#changed.get(partition) ?? NOTHING) shared.isChanged = false;
    this.#changed.delete(partition);
  }

  /** An execution is about to use something, or its log says that it has. */
  open(subject: Subject): Spender {
    const own = this.#ownLines.map((line) => new OwnTotal(line));
    return new Spender(this, own, this.#sharedOf(subject));
  }

  /** A subject without an execution: for calls of which somebody else keeps the executions. */
  openShared(subject: Subject): Spender {
    return new Spender(this, NOTHING, this.#sharedOf(subject));
  }

  // Calls

  /** Asks for one attempt: undefined when it is let through, and then it counts. (L1) */
  admit(spender: Spender, now: number): Refusal | undefined | Promise<Refusal | undefined> {
    return this.admitHere(spender, now);
  }

  /** The same, decided by what is known here. */
  admitHere(spender: Spender, now: number): Refusal | undefined {
    const refusal = this.#refusal(spender, now);
    if (!refusal) this.begin(spender, now);
    return refusal;
  }

  begin(spender: Spender, now: number): void {
    for (const total of spender.own) total.begin(now);
    for (const tally of spender.shared.tallies) tally.begin(now);
  }

  /**
   * An attempt was lost with its process, and it may have begun: it counts, unless a budget would have kept it from beginning.
   * Returns whether it counts.
   */
  beginLost(spender: Spender, now: number): boolean {
    if (this.#refusal(spender, now)) return false;
    this.begin(spender, now);
    return true;
  }

  /** An attempt that was let through then is not made. */
  takeBack(spender: Spender, startedAt: number): void {
    for (const total of spender.own) total.takeBack(startedAt);
    for (const tally of spender.shared.tallies) tally.takeBack(startedAt);
  }

  report(spender: Spender, tokens: number, cost: number): void {
    for (const total of spender.own) total.report(tokens, cost);
    for (const tally of spender.shared.tallies) tally.report(tokens, cost);
  }

  /** An attempt is over, and the next commit of its partition records that. */
  settle(spender: Spender, used: Used, now: number): void {
    const { shared, subject } = spender;
    for (const total of spender.own) settleIn(total, used, now);
    for (const tally of shared.tallies) settleIn(tally, used, now);
    if (shared.isChanged || shared.isVoid) return;
    shared.isChanged = true;
    const changed = this.#changed.get(subject.partition);
    if (changed) changed.push(shared);
    else this.#changed.set(subject.partition, [shared]);
  }

  #refusal({ own, shared }: Spender, now: number): Refusal | undefined {
    const refusal = refusalIn(own, undefined, now);
    return shared.isBounded ? refusalIn(shared.totals, refusal, now) : refusal;
  }

  #sharedOf(subject: Subject): SharedTotals {
    const { partition, flowId, tenant } = subject;
    let known = this.#shared.get(partition);
    if (!known) {
      known = new Map();
      this.#shared.set(partition, known);
    }
    const name = tenant === undefined ? flowId : `${flowId}\0${tenant}`; // no id holds a NUL
    let shared = known.get(name);
    if (!shared) {
      const ofFlow = this.#totalsOf("flow", flowId);
      const totals = tenant === undefined ? ofFlow : [...ofFlow, ...this.#totalsOf("tenant", tenant)];
      shared = new SharedTotals(subject, totals);
      known.set(name, shared);
    }
    return shared;
  }

  #totalsOf(scope: SharedScope, of: string): readonly Total[] {
    const name = nameOf(scope, of);
    let totals = this.#totals.get(name);
    if (!totals) {
      const budgets = this.budgets.filter((budget) => budget.scope === scope && (budget.of ?? of) === of);
      totals = linesOf(budgets).map((line) => new Total(scope, of, line));
      this.#totals.set(name, totals);
    }
    return totals;
  }
}

function settleIn(tally: Tally, used: Used, now: number): void {
  if (used.startedAt === undefined) tally.restore(used, now);
  else tally.settle(used, now);
}

function nameOf(scope: SharedScope, of: string): string {
  return `${scope} ${of}`;
}
