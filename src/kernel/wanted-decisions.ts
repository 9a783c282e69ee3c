// WantedDecisions: the decisions one run waits for, by id. Made when the first is asked for; most flows decide nothing.
//
// Nothing is recorded until it is decided: a decider has no effect on the world, so after a crash before that it is just asked
// again.

import type { DecideOptions, DecideScope } from "./context.js";
import { Deferred } from "./deferred.js";
import type { EventOf } from "./events.js";
import type { Secrecy } from "./secrets/index.js";

export type Decider = (scope: DecideScope) => unknown;

/** A decision that no record answers. Its own: another one may come to be wanted under its id. */
export interface WantedDecision {
  readonly decider: Decider;
  readonly options: DecideOptions;
}

interface OpenDecision extends WantedDecision {
  readonly shielded: boolean;
  readonly deferred: Deferred<unknown>;
  consulted: boolean;
}

export class WantedDecisions {
  readonly #open = new Map<string, OpenDecision>();

  get count(): number {
    return this.#open.size;
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  is(id: string, decision: WantedDecision): boolean {
    return this.#open.get(id) === decision;
  }

  ask(id: string, decider: Decider, options: DecideOptions, shielded: boolean): Promise<unknown> {
    const deferred = new Deferred<unknown>();
    this.#open.set(id, { decider, options, shielded, deferred, consulted: false });
    return deferred.promise;
  }

  /** Each is told once. */
  consult(tell: (id: string, decision: WantedDecision) => void): void {
    for (const [id, decision] of this.#open) {
      if (decision.consulted) continue;
      decision.consulted = true;
      tell(id, decision);
    }
  }

  settle(outcome: EventOf<"DECISION_RECORDED" | "DECISION_FAILED">, secrecy: Secrecy): void {
    const { deferred } = this.#open.get(outcome.decisionId)!;
    this.#open.delete(outcome.decisionId);
    if (outcome.type === "DECISION_RECORDED") deferred.resolve(secrecy.reveal(outcome.choice));
    else deferred.reject(secrecy.reveal(outcome.error));
  }

  /** Rejects all that are not shielded. */
  cancel(error: unknown): void {
    for (const [id, { shielded, deferred }] of this.#open) {
      if (shielded) continue;
      this.#open.delete(id);
      deferred.reject(error);
    }
  }
}
