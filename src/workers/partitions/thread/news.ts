// News: tells the host how far executions are durable that somebody there subscribes to. The events themselves the host
// reads from the log.
//
// N1  Of each execution at most one notice is on its way. What becomes durable meanwhile waits for the answer and is one
//     notice again: a slow host costs a number for each execution it follows, whatever the executions do.

import type { Written } from "../../../actors/index.js";

interface Followed {
  durable: number;
  told: number;
  isTelling: boolean;
}

export class News {
  readonly #tell: (executionId: string, sequence: number) => void;
  readonly #followed = new Map<string, Followed>();

  constructor(tell: (executionId: string, sequence: number) => void) {
    this.#tell = tell;
  }

  follow(executionId: string): void {
    this.#followed.set(executionId, { durable: -1, told: -1, isTelling: true });
    // What became durable between the host's first look and now is known to the log alone.
    this.#tell(executionId, Number.MAX_SAFE_INTEGER);
  }

  unfollow(executionId: string): void {
    this.#followed.delete(executionId);
  }

  durable(moves: readonly Written[]): void {
    if (this.#followed.size === 0) return;
    for (const { header, record } of moves) {
      const followed = record && this.#followed.get(header.id);
      if (!followed) continue;
      followed.durable = record.sequence + record.events.length - 1;
      this.#tellOf(header.id, followed);
    }
  }

  heard(executionId: string): void {
    const followed = this.#followed.get(executionId);
    if (!followed) return;
    followed.isTelling = false;
    this.#tellOf(executionId, followed);
  }

  /** N1 */
  #tellOf(executionId: string, followed: Followed): void {
    if (followed.isTelling || followed.durable <= followed.told) return;
    followed.isTelling = true;
    followed.told = followed.durable;
    this.#tell(executionId, followed.durable);
  }
}
