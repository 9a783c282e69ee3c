// Progress: how many packages are done, as a bar on a terminal and as a few plain lines anywhere else.

import { SingleBar } from "cli-progress";

/** Plain lines in all. */
const PLAIN_LINES = 4;

export class Progress {
  readonly #total: number;
  /** Done by earlier processes: not ours to be fast about. */
  readonly #before: number;
  readonly #since = performance.now();
  readonly #bar: SingleBar | undefined;
  #done = 0;

  constructor(stream: NodeJS.WriteStream, total: number, before: number) {
    this.#total = total;
    this.#before = before;
    if (!stream.isTTY) return;
    this.#bar = new SingleBar({
      format: "  {bar} {value}/{total} packages, {rate}/s",
      barCompleteChar: "█",
      barIncompleteChar: "░",
      stream,
      linewrap: null, // the default switches wrapping off until the bar ends, and a killed process never ends it
      // On Ctrl-C the program closes its log; the bar must not end the process before that.
      gracefulExit: false,
    });
    this.#bar.start(total, before, { rate: 0 });
  }

  /** Counts one more. Returns the line to print, where there is no bar and one is due. */
  advance(): string | undefined {
    this.#done++;
    if (this.#done <= this.#before) return undefined;
    const rate = Math.round((this.#done - this.#before) / ((performance.now() - this.#since) / 1000));
    this.#bar?.update(this.#done, { rate });
    return this.#bar || !this.#isDue() ? undefined : `  ${this.#done}/${this.#total} packages, ${rate}/s`;
  }

  end(): void {
    this.#bar?.stop();
  }

  #isDue(): boolean {
    const linesAt = (done: number): number => Math.floor((done * PLAIN_LINES) / this.#total);
    return linesAt(this.#done) > linesAt(this.#done - 1);
  }
}
