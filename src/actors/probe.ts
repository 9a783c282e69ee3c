// Probe: tries whether a log that has failed takes writes again.
//
// Owns       the pauses between tries.
// Leaves     what a failure means, and what follows on the end of it, to the partition.
//
// B1  Pauses grow while one failure follows on another, also when probes get through in between: a disk that is all but full
//     takes a probe and little more, and what runs must not run again and again for that.

import type { Clock } from "../kernel/index.js";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export interface ProbeOptions {
  readonly clock: Clock;
  /** Writes what says nothing new. */
  readonly attempt: () => Promise<unknown>;
  /** Told when that got through. */
  readonly onSuccess: () => void;
}

export class Probe {
  readonly #options: ProbeOptions;
  #pauseMs = FIRST_PAUSE_MS;
  #succeededAt = -Infinity;
  #cancel: (() => void) | undefined;

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  /** The log has failed: tries until it takes writes, or until `stop`. */
  start(): void {
    if (this.#options.clock.now() - this.#succeededAt > LONGEST_PAUSE_MS) this.#pauseMs = FIRST_PAUSE_MS; // B1
    this.#tryLater();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #tryLater(): void {
    this.#cancel = this.#options.clock.after(this.#pauseMs, () => void this.#try());
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  async #try(): Promise<void> {
    const { clock, attempt, onSuccess } = this.#options;
    try {
      await attempt();
    } catch {
      if (this.#cancel) this.#tryLater();
      return;
    }
    if (!this.#cancel) return; // stopped meanwhile
    this.#succeededAt = clock.now();
    onSuccess();
  }
}
