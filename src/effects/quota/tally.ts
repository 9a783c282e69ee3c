// Tally: what has been used of the present window, or of all time.
//
// T1  A call counts in the window in which it begins. What it uses counts in the window in which it is over; until then, as
//     far as it is reported, in whichever window is the present one. So nothing that is known is ever left out.
// T2  What was settled is apart from what is under way: only the first is kept in the log, the second is lost with the process.
// T3  Time that goes back opens no window again.

import type { Meter, Totals, Used } from "../../kernel/index.js";

export class Tally {
  readonly perMs: number;
  windowStart: number;
  #calls: number;
  #tokens: number;
  #cost: number;
  #wallMs: number;
  /** Calls begun in the window, those that are over among them. */
  #begun: number;
  /** Calls under way, whenever they began, and what they have reported. */
  #open = 0;
  #openTokens = 0;
  #openCost = 0;

  /** `perMs` 0: of all time. */
  constructor(perMs: number, windowStart = 0, kept?: Totals) {
    this.perMs = perMs;
    this.windowStart = windowStart;
    this.#calls = this.#begun = kept?.calls ?? 0;
    this.#tokens = kept?.tokens ?? 0;
    this.#cost = kept?.cost ?? 0;
    this.#wallMs = kept?.wallMs ?? 0;
  }

  used(meter: Meter, now: number): number {
    this.#roll(now);
    switch (meter) {
      case "calls":
        return this.#begun;
      case "tokens":
        return this.#tokens + this.#openTokens;
      case "cost":
        return this.#cost + this.#openCost;
      case "wallMs":
        return this.#wallMs;
    }
  }

  /** What is over by now, as the log keeps it. (T2) */
  get kept(): Totals {
    return { calls: this.#calls, tokens: this.#tokens, cost: this.#cost, wallMs: this.#wallMs };
  }

  begin(now: number): void {
    this.#roll(now);
    this.#begun++;
    this.#open++;
  }

  /** The call that began then was not made after all. */
  takeBack(startedAt: number): void {
    if (startedAt >= this.windowStart) this.#begun--;
    this.#close(0, 0);
  }

  report(tokens: number, cost: number): void {
    this.#openTokens += tokens;
    this.#openCost += cost;
  }

  /** A call is over that `begin` has counted. */
  settle(used: Used, now: number): void {
    const { tokens = 0, cost = 0 } = used;
    this.#close(tokens, cost);
    this.#add(used, now);
  }

  /** The same for a call that an earlier process, or nobody, has counted. */
  restore(used: Used, now: number): void {
    this.#roll(now);
    if ((used.startedAt ?? now) >= this.windowStart) this.#begun++;
    this.#add(used, now);
  }

  #add({ tokens = 0, cost = 0, wallMs = 0, startedAt = Infinity }: Used, now: number): void {
    this.#roll(now);
    if (startedAt >= this.windowStart) this.#calls++; // T1
    this.#tokens += tokens;
    this.#cost += cost;
    this.#wallMs += wallMs;
  }

  #close(tokens: number, cost: number): void {
    this.#open--;
    // Costs are fractions, which do not add up to nothing again.
    const isLast = this.#open <= 0;
    this.#openTokens = isLast ? 0 : this.#openTokens - tokens;
    this.#openCost = isLast ? 0 : this.#openCost - cost;
  }

  #roll(now: number): void {
    if (this.perMs === 0) return;
    const start = now - (now % this.perMs);
    if (start <= this.windowStart) return; // T3
    this.windowStart = start;
    this.#calls = this.#begun = this.#tokens = this.#cost = this.#wallMs = 0;
  }
}
