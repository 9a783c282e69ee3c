// Deaths: what is made of it that a partition thread ends again and again.
//
// D1  After a few deaths in a row the next thread goes with caution: executions one by one, each leaving a footprint.
// D2  The execution that threads died at twice in a row is left out of the next ones: it is set aside, its log untouched, and
//     the others go on (C-LIF-02). The next opening of the app tries it again.
// D3  A thread that lived long was not ended by what ended the one before it: the count begins anew.

import { Footprint } from "./footprint.js";
import type { ThreadSettings } from "./setup.js";

/** A thread that lived so long has not been ended by what ended the one before. */
const LONG_LIFE_MS = 10_000;
const CAREFUL_AFTER = 3;

export class Deaths {
  readonly #quarantined: string[] = [];
  /** Deaths since the last thread that lived long, or since what ended them was set aside. */
  inARow = 0;
  #footprint: Footprint | undefined;
  #suspect: string | undefined;

  /** What the next thread is told. */
  cautionOfNext(): ThreadSettings["caution"] {
    this.#footprint = this.inARow >= CAREFUL_AFTER ? new Footprint() : undefined;
    return { footprints: this.#footprint?.memory, quarantined: [...this.#quarantined] };
  }

  /** A thread has ended by itself. Returns what there is to say of it, in words that follow on "the thread". */
  note(livedMs: number): string | undefined {
    if (livedMs > LONG_LIFE_MS) this.#beginAnew(); // D3
    this.inARow++;
    const isCareful = this.#footprint !== undefined;
    const suspect = this.#footprint?.read();
    const isSure = suspect !== undefined && suspect === this.#suspect;
    this.#suspect = suspect;
    if (isSure) return this.#quarantine(suspect);
    if (this.inARow < CAREFUL_AFTER) return undefined;
    const times = `ended ${this.inARow} times in a row`;
    if (suspect !== undefined) return `${times}, the last time while execution ${suspect} was running.`;
    return isCareful
      ? `${times}, and no execution was at work: look at what its module does by itself.`
      : `${times}. Its executions go on one by one, to find out which of them ends it.`;
  }

  /** D2 */
  #quarantine(executionId: string): string {
    const times = this.inARow;
    this.#quarantined.push(executionId);
    this.#beginAnew();
    return (
      `ended ${times} times in a row, the last two times while execution ${executionId} was running, which is set aside. ` +
      "Mend what it runs, or cancel it by force; the next opening of the app tries it again."
    );
  }

  #beginAnew(): void {
    this.inARow = 0;
    this.#suspect = undefined;
  }
}
