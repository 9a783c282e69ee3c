// OpenGates: what one run is suspended on, by gate id, events and sleeps alike. Made when the first gate opens; most flows have none.

import { Deferred } from "./deferred.js";
import type { EventOf } from "./events.js";
import { gateTimedOut } from "./flow-errors.js";
import type { Secrecy } from "./secrets/index.js";

export interface GateRequest {
  readonly kind: "event" | "sleep";
  readonly on: string;
  readonly correlationKey: string | undefined;
  readonly wakeAt: number | undefined;
  readonly shielded: boolean;
}

export interface OpenGate extends GateRequest {
  readonly deferred: Deferred<unknown>;
}

export type GateOutcome = EventOf<"GATE_EVENT" | "GATE_TIMED_OUT" | "TIMER_FIRED">;

export class OpenGates {
  readonly #open = new Map<string, OpenGate>();
  /** How many gates of each name were ever opened: the next one's ordinal. */
  readonly #counts = new Map<string, number>();

  get all(): ReadonlyMap<string, OpenGate> {
    return this.#open;
  }

  /** Gates are told apart by how many of their name came before: a pure function of the log. */
  nextId(on: string): string {
    const ordinal = this.#counts.get(on) ?? 0;
    this.#counts.set(on, ordinal + 1);
    return `${on}#${ordinal}`;
  }

  open(gateId: string, request: GateRequest): Promise<unknown> {
    const deferred = new Deferred<unknown>();
    this.#open.set(gateId, { ...request, deferred });
    return deferred.promise;
  }

  settle(outcome: GateOutcome, secrecy: Secrecy): void {
    const { deferred } = this.#open.get(outcome.gateId)!;
    this.#open.delete(outcome.gateId);
    if (outcome.type === "GATE_EVENT") deferred.resolve(secrecy.reveal(outcome.payload));
    else if (outcome.type === "TIMER_FIRED") deferred.resolve(undefined);
    else deferred.reject(gateTimedOut(outcome));
  }

  /** Rejects all that are not shielded. */
  cancel(error: unknown): void {
    for (const [gateId, { shielded, deferred }] of this.#open) {
      if (shielded) continue;
      this.#open.delete(gateId);
      deferred.reject(error);
    }
  }
}
