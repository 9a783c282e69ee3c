// ThreadLedger: the ledger of a partition thread. What executions use it knows whole; of flows and tenants the host knows what
// all threads use, and is asked.
//
// TL1  The rows of this thread's partitions are kept here, and written in their commits, as without threads.
// TL2  The host counts what it lets through in the turn of the answer, so budgets are kept over all threads exactly.
// TL3  The host is told of everything that counts, in the order in which it happens here, and of nothing that is void.

import { type Budget, Ledger, type Refusal, refusalIn, type Spender } from "../../../effects/index.js";
import { type MeterRow, toWire, type Used } from "../../../kernel/index.js";
import type { Outbox } from "../outbox.js";
import { type HostMessage, ToHost } from "../protocol.js";

interface Asked {
  readonly spender: Spender;
  readonly at: number;
  readonly resolve: (refusal: Refusal | undefined) => void;
}

export class ThreadLedger extends Ledger {
  readonly #outbox: Outbox<HostMessage>;
  readonly #asked = new Map<number, Asked>();
  #lastRequest = 0;

  constructor(budgets: readonly Budget[], now: () => number, outbox: Outbox<HostMessage>) {
    super(budgets, now);
    this.#outbox = outbox;
  }

  override load(partition: number, rows: readonly MeterRow[]): void {
    super.load(partition, rows);
    this.#outbox.post([ToHost.totals, partition, toWire(rows)]);
  }

  override admit(spender: Spender, now: number): Refusal | undefined | Promise<Refusal | undefined> {
    const refusal = refusalIn(spender.own, undefined, now);
    if (refusal) return refusal;
    if (!spender.shared.isBounded) {
      this.begin(spender, now);
      return undefined;
    }
    super.begin(spender, now); // also while the host is asked: others of this execution may ask meanwhile
    return new Promise((resolve) => {
      const request = ++this.#lastRequest;
      this.#asked.set(request, { spender, at: now, resolve });
      this.#outbox.post([ToHost.admit, request, ...subjectOf(spender), now]);
    });
  }

  /** The host's answer to a request. */
  answered(request: number, refusal: Refusal | undefined): void {
    const asked = this.#asked.get(request);
    if (!asked) return;
    this.#asked.delete(request);
    if (refusal) super.takeBack(asked.spender, asked.at);
    asked.resolve(refusal);
  }

  override begin(spender: Spender, now: number): void {
    super.begin(spender, now);
    if (!spender.shared.isVoid) this.#outbox.post([ToHost.begun, ...subjectOf(spender), now]);
  }

  override takeBack(spender: Spender, startedAt: number): void {
    super.takeBack(spender, startedAt);
    if (!spender.shared.isVoid) this.#outbox.post([ToHost.takenBack, ...subjectOf(spender), startedAt]);
  }

  override report(spender: Spender, tokens: number, cost: number): void {
    super.report(spender, tokens, cost);
    if (!spender.shared.isVoid) this.#outbox.post([ToHost.reported, ...subjectOf(spender), tokens, cost]);
  }

  override settle(spender: Spender, used: Used, now: number): void {
    super.settle(spender, used, now);
    if (spender.shared.isVoid) return;
    const { tokens = 0, cost = 0, wallMs, startedAt } = used;
    this.#outbox.post([ToHost.settled, ...subjectOf(spender), now, tokens, cost, wallMs, startedAt]);
  }
}

function subjectOf({ subject: { partition, flowId, tenant } }: Spender) {
  return [partition, flowId, tenant] as const;
}
