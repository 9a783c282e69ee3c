// Counter: an outside witness of what the steps really do. Everything else this program knows about its own past comes
// out of heddle's log; this file is written past it, so it can prove the log right or wrong.
//
// Each line is one write at the end of the file, so it is whole even if the process is killed right after it:
//
//   4711 start     lodash@4.17.21-8d3f1a20 read      the body of the step begins
//   4711 finish    lodash@4.17.21-8d3f1a20 read      the body has returned
//   4711 fail      lodash@4.17.21-8d3f1a20 read      the body has thrown
//   4711 recorded  lodash@4.17.21-8d3f1a20 read      heddle has told us that the result is durable
//
// A `start` below a `recorded` of the same step would be a completed step that ran twice. A `start` below another
// `start` with nothing recorded between them is an attempt that the kill cut short, and that rightly ran again.

import { fstatSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import type { EffectMiddleware, EventEnvelope, EventStore } from "heddle";
import { z } from "zod";

type Mark = "start" | "finish" | "fail" | "recorded";

/** Lines of a step that runs without trouble: start, finish, recorded. */
export const LINES_PER_STEP = 3;

export interface Tally {
  /** Steps whose body has finished at least once. */
  readonly completed: number;
  /** Starts of a step that had been recorded as completed. */
  readonly runAgainAfterCompletion: number;
  /** Attempts that the end of a process cut short, and whose step then ran again: `execution step`. */
  readonly cutShort: readonly string[];
}

export class Counter {
  readonly #file: string;
  readonly #fd: number;
  readonly killAtLine: number;
  readonly #recorded = new Set<string>();
  /** How much of the file has been looked at, and how many lines that is. Other threads write to it, too. */
  #bytes = 0;
  #lines = 0;

  /** With `killAtLine` the process kills itself as soon as the file has so many lines. */
  constructor(file: string, killAtLine = Infinity) {
    this.#file = file;
    this.#fd = openSync(file, "a+");
    this.killAtLine = killAtLine;
    this.#countLines();
    for (const { mark, step } of this.#entries()) if (mark === "recorded") this.#recorded.add(step);
  }

  /** Notes the real runs of every step. Middleware surrounds what a step does, and does not run when a log is replayed. */
  readonly middleware: EffectMiddleware = async ({ executionId, stepId }, input, next) => {
    this.#note("start", executionId, stepId);
    try {
      const output = await next(input);
      this.#note("finish", executionId, stepId);
      return output;
    } catch (error) {
      this.#note("fail", executionId, stepId);
      throw error;
    }
  };

  /** Notes what heddle says is durable. */
  readonly onDurableEvent = ({ type, executionId, payload }: EventEnvelope): void => {
    if (type === "STEP_COMPLETED") this.#note("recorded", executionId, StepCompleted.parse(payload).stepId);
  };

  /** The kill may have come between a commit and our hearing of it, so what the log holds is noted before it is opened. */
  async catchUp(eventStore: EventStore): Promise<void> {
    for (const { id } of await eventStore.list({ limit: Infinity })) {
      for (const { type, payload } of await eventStore.read(id)) {
        if (type !== "STEP_COMPLETED") continue;
        const { stepId } = StepCompleted.parse(payload);
        if (!this.#recorded.has(`${id} ${stepId}`)) this.#note("recorded", id, stepId);
      }
    }
  }

  tally(): Tally {
    const finished = new Set<string>();
    const recorded = new Set<string>();
    const underWay = new Set<string>();
    const cutShort: string[] = [];
    let runAgainAfterCompletion = 0;
    for (const { mark, step } of this.#entries()) {
      switch (mark) {
        case "start":
          if (recorded.has(step)) runAgainAfterCompletion++;
          else if (underWay.has(step)) cutShort.push(step);
          underWay.add(step);
          break;
        case "finish":
          finished.add(step);
          break;
        case "fail":
          underWay.delete(step);
          break;
        case "recorded":
          recorded.add(step);
          break;
      }
    }
    return { completed: finished.size, runAgainAfterCompletion, cutShort };
  }

  /** Whether the kill is still to come. */
  get willKill(): boolean {
    return this.killAtLine !== Infinity && this.#lines < this.killAtLine;
  }

  #note(mark: Mark, executionId: string, stepId: string): void {
    writeSync(this.#fd, `${process.pid} ${mark.padEnd(9)} ${executionId} ${stepId}\n`);
    if (!this.willKill) return;
    this.#countLines();
    if (!this.willKill) process.kill(process.pid, "SIGKILL");
  }

  #countLines(): void {
    const added = Buffer.alloc(fstatSync(this.#fd).size - this.#bytes);
    this.#bytes += readSync(this.#fd, added, 0, added.length, this.#bytes);
    for (const byte of added) if (byte === NEWLINE) this.#lines++;
  }

  *#entries(): Generator<{ readonly mark: string; readonly step: string }> {
    for (const line of readFileSync(this.#file, "utf8").split("\n")) {
      const [, mark, step] = /^\d+ (\w+) +(\S+ \S+)$/.exec(line) ?? [];
      if (mark !== undefined && step !== undefined) yield { mark, step };
    }
  }
}

const NEWLINE = 0x0a;
const StepCompleted = z.object({ stepId: z.string() });
