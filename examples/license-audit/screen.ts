// Screen: what a person sees while the program works. It is written to stderr, so that it is seen also when the report
// on stdout is piped into something.

import type { ExecutionHeader } from "heddle";
import picocolors from "picocolors";
import type { Approver } from "./approval.js";
import { Progress } from "./progress.js";
import { count } from "./summary-text.js";

export interface Heading {
  readonly tree: string;
  readonly packages: number;
  readonly directory: string;
  readonly life: number;
  /** Whether this process is going to kill itself. */
  readonly willKill: boolean;
}

const { bold, red, yellow } = picocolors.createColors(picocolors.isColorSupported && process.stderr.isTTY);

export class Screen {
  #progress: Progress | undefined;

  say(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  complain(text: string): void {
    this.endWork();
    this.say(red(text));
  }

  heading({ tree, packages, directory, life, willKill }: Heading): void {
    if (life > 1) return this.say(`Process ${process.pid} opens the log and goes on where it ends.`);
    this.say(bold(`Licence audit of ${tree}`));
    this.say(
      `${count(packages, "package")}, a durable execution for each: read its files, judge its licence, report.`,
    );
    this.say(`Log and report are in ${directory}`);
    if (willKill)
      this.say(
        yellow("Half way it kills itself (kill -9) and is started again; --no-crash leaves that out."),
      );
  }

  killed(pid: number): void {
    if (process.stderr.isTTY) this.say(""); // the bar of the dead process still has the line
    this.say(
      yellow(`Process ${pid} is dead: kill -9 in the middle of its work, no chance to save anything.`),
    );
    this.say("The same program is started again on the same directory.");
  }

  /** `known` is what the log holds before the work goes on. */
  beginWork(total: number, known: readonly ExecutionHeader[]): void {
    const completed = known.filter(({ status }) => status === "completed").length;
    if (known.length > 0) {
      const [unfinished, fresh] = [known.length - completed, total - known.length];
      this.say(`Its log: ${completed} packages finished, ${unfinished} unfinished, ${fresh} not begun.`);
    }
    this.#progress = new Progress(process.stderr, total, completed);
  }

  advance(): void {
    const line = this.#progress?.advance();
    if (line !== undefined) this.say(line);
  }

  endWork(): void {
    this.#progress?.end();
    this.#progress = undefined;
  }

  introduceQuestions(packages: number, { introduction }: Approver): void {
    const need = packages === 1 ? "needs" : "need";
    this.say(`${count(packages, "package")} with an unusual licence ${need} a decision. ${introduction}`);
  }

  stopped(command: string): void {
    this.endWork();
    this.say("\nStopped, and the log is closed in good order. This command goes on where it stopped:");
    this.say(`  ${command}`);
  }
}
