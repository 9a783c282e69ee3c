// Backlog: attempts whose requests are durable and for which there is no room where they are to run.
//
// Owns       the order in which they get there.
// Leaves     whether an attempt is still wanted to whoever sends it.
//
// B1  Executions take turns; within one, requests keep their order. One that fans out wide does not hold up another's single
//     step (C-EFF-03).
// B2  What runs in the thread of its execution never waits here.
// B3  An attempt that waits is what it was anyway, an open step: nothing is encoded, and no effect knows of it yet.

import { type EffectExecutor, FairQueue } from "../effects/index.js";
import type { InFlight } from "./in-flight.js";

export class Backlog {
  readonly #executor: EffectExecutor;
  readonly #send: (attempt: InFlight) => void;
  readonly #queue = new FairQueue<InFlight>();
  #isWaiting = false;

  constructor(executor: EffectExecutor, send: (attempt: InFlight) => void) {
    this.#executor = executor;
    this.#send = send;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** Sends the attempt, now or in its turn. */
  offer(attempt: InFlight): void {
    const place = this.#executor.elsewhere?.(attempt);
    if (!place || (this.#queue.size === 0 && place.hasRoom)) return this.#send(attempt); // B2
    this.#queue.push(attempt.executionId, attempt);
    this.#drain();
  }

  clear(): void {
    this.#queue.takeAll();
  }

  #drain(): void {
    if (this.#isWaiting) return;
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) {
      const place = this.#executor.elsewhere?.(next);
      if (!place || place.hasRoom) {
        this.#send(next);
        continue;
      }
      this.#queue.putBack(next.executionId, next);
      this.#isWaiting = true;
      place.whenRoom(() => {
        this.#isWaiting = false;
        this.#drain();
      });
      return;
    }
  }
}
