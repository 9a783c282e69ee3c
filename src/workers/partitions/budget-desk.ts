// BudgetDesk: keeps the budgets of flows and tenants for all partition threads, at the host.
//
// BD1  Nobody is let through before every partition has brought what its log holds.
// BD2  A thread that ended goes on counting with what it had said; the one after it brings what became durable.

import type { Ledger, Spender } from "../../effects/index.js";
import { fromWire, type MeterRow, toWire } from "../../kernel/index.js";
import { type BudgetMessage, type ThreadMessage, ToHost, ToThread } from "./protocol.js";

export class BudgetDesk {
  readonly #ledger: Ledger;
  /** Partitions that have not brought anything yet, and who waits for them. (BD1) */
  readonly #missing: Set<number>;
  #waiting: (() => void)[] = [];

  constructor(ledger: Ledger, partitions: number) {
    this.#ledger = ledger;
    this.#missing = new Set(Array.from({ length: partitions }, (_, number) => number));
  }

  /** @param answer speaks to the thread that the message is of */
  take(message: BudgetMessage, answer: (message: ThreadMessage) => void): void {
    switch (message[0]) {
      case ToHost.totals:
        return this.#load(message[1], fromWire(message[2]) as readonly MeterRow[]);
      case ToHost.admit: {
        const [, request, partition, flowId, tenant, at] = message;
        return this.#whenComplete(() => {
          const spender = this.#ledger.openShared({ partition, flowId, tenant });
          answer([ToThread.admitted, request, toWire(this.#ledger.admitHere(spender, at))]);
        });
      }
      case ToHost.begun:
        return this.#ledger.begin(this.#spenderOf(message), message[4]);
      case ToHost.takenBack:
        return this.#ledger.takeBack(this.#spenderOf(message), message[4]);
      case ToHost.reported:
        return this.#ledger.report(this.#spenderOf(message), message[4], message[5]);
      case ToHost.settled: {
        const [, , , , at, tokens, cost, wallMs, startedAt] = message;
        this.#ledger.settle(this.#spenderOf(message), { tokens, cost, wallMs, startedAt }, at);
        return this.#ledger.leaveRows(message[1]); // the thread writes them
      }
    }
  }

  #spenderOf([, partition, flowId, tenant]: SpendingMessage): Spender {
    return this.#ledger.openShared({ partition, flowId, tenant });
  }

  #load(partition: number, rows: readonly MeterRow[]): void {
    this.#ledger.load(partition, rows);
    this.#missing.delete(partition);
    if (this.#missing.size > 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const goOn of waiting) goOn();
  }

  #whenComplete(goOn: () => void): void {
    if (this.#missing.size === 0) goOn();
    else this.#waiting.push(goOn);
  }
}

type SpendingMessage = Exclude<
  BudgetMessage,
  readonly [typeof ToHost.totals | typeof ToHost.admit, ...unknown[]]
>;
