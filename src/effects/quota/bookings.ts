// Bookings: the windows that waiting calls were told to come back in. They spread over the windows, so that few wait twice. Kept in
// memory: who loses a place waits again.

import type { Budget } from "./budget.js";

export class Bookings {
  /** By budget: the last window, and how many were told of it. */
  readonly #last = new Map<Budget, { readonly window: number; readonly count: number }>();

  /** @param next when the next window begins. Returns when the one begins that has room. */
  book(budget: Budget, perMs: number, next: number): number {
    const last = this.#last.get(budget);
    const isNew = !last || last.window < next;
    const isFull = last !== undefined && last.count >= budget.limit;
    const window = isNew ? next : isFull ? last.window + perMs : last.window;
    this.#last.set(budget, { window, count: isNew || isFull ? 1 : last.count + 1 });
    return window;
  }
}
