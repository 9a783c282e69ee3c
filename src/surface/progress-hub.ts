// ProgressHub: what is going on right now, for whoever looks, such as the words of a model while it writes. Nothing of it is
// recorded: a reader that comes late has missed it, and a restart forgets everything.
//
// Owns       for each reader that is busy, the text that came since, up to a bound.
//
// H1  A report never waits and never fails for the sake of a reader.
// H2  A reader is called with one piece at a time; what comes meanwhile is handed over as one piece when it is done.
// H3  What a reader may have waiting is bounded: beyond it the oldest goes, and the reader is told how much.

import { checkCount, checkId, HeddleError } from "../kernel/index.js";

export interface ProgressPiece {
  readonly executionId: string;
  readonly text: string;
  /** Characters that are missing before this text, because the reader was too slow for them. Mostly 0. */
  readonly droppedChars: number;
}

/** Called with each piece. While what it returns is pending, text is gathered; what it throws is nobody else's failure. */
export type ProgressListener = (piece: ProgressPiece) => unknown;

export interface ProgressHubOptions {
  /** How much text waits for one busy reader, in UTF-16 units. Default 65,536. */
  readonly waitingChars?: number;
  /** Readers of all executions together. Default 10,000. */
  readonly readers?: number;
}

export class ProgressHub {
  readonly #readers = new Map<string, Set<Reader>>();
  readonly #waitingChars: number;
  readonly #most: number;
  #count = 0;

  /** @throws CONFIG_INVALID for bounds that are no whole numbers from 1 */
  constructor({ waitingChars = 65_536, readers = 10_000 }: ProgressHubOptions = {}) {
    checkCount("ProgressHub: waitingChars", waitingChars, 1);
    checkCount("ProgressHub: readers", readers, 1);
    this.#waitingChars = waitingChars;
    this.#most = readers;
  }

  /** Tells the readers of an execution. Costs nothing where there are none. (H1) */
  report(executionId: string, text: string): void {
    for (const reader of this.#readers.get(executionId) ?? []) reader.take(text);
  }

  /**
   * Reads what is reported of an execution from now on, until the function that is returned is called.
   *
   * @throws OVERLOADED when there are as many readers as may be
   */
  subscribe(executionId: string, listener: ProgressListener): () => void {
    checkId("executionId", executionId);
    if (this.#count >= this.#most)
      throw new HeddleError("OVERLOADED", `There are ${this.#most} readers of progress already.`, {
        details: { limit: this.#most },
      });
    const reader = new Reader(executionId, listener, this.#waitingChars);
    const readers = this.#readers.get(executionId) ?? new Set();
    this.#readers.set(executionId, readers.add(reader));
    this.#count++;
    return () => {
      reader.end();
      if (!readers.delete(reader)) return;
      this.#count--;
      if (readers.size === 0) this.#readers.delete(executionId);
    };
  }
}

/** The hub of this process, or of this thread: what an effect of a pool reports stays in its thread. */
export const progressHub = new ProgressHub();

class Reader {
  readonly #executionId: string;
  readonly #listener: ProgressListener;
  readonly #waitingChars: number;
  #waiting = "";
  #droppedChars = 0;
  #isBusy = false;
  #hasEnded = false;

  constructor(executionId: string, listener: ProgressListener, waitingChars: number) {
    this.#executionId = executionId;
    this.#listener = listener;
    this.#waitingChars = waitingChars;
  }

  take(text: string): void {
    if (this.#hasEnded || text === "") return;
    const all = this.#waiting + text;
    this.#waiting = endOf(all, this.#waitingChars); // H3
    this.#droppedChars += all.length - this.#waiting.length;
    if (!this.#isBusy) void this.#deliver();
  }

  end(): void {
    this.#hasEnded = true;
    this.#waiting = "";
  }

  async #deliver(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting !== "") {
      const piece = { executionId: this.#executionId, text: this.#waiting, droppedChars: this.#droppedChars };
      this.#waiting = "";
      this.#droppedChars = 0;
      try {
        await this.#listener(piece);
      } catch {
        // H1: a display is no reason for what it displays to fail.
      }
    }
    this.#isBusy = false;
  }
}

/** The end of a text, that does not begin within a character. */
function endOf(text: string, chars: number): string {
  const end = text.slice(Math.max(0, text.length - chars));
  return end.isWellFormed() ? end : end.replace(/^[\uDC00-\uDFFF]/, "");
}
