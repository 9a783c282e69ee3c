// Stats: what a pool measures of its calls and threads, and how it is read.

import type { Worker } from "node:worker_threads";
import type { ControlLine } from "../control-line.js";
import type { LoopFigures } from "../loop-figures.js";
import type { ThreadControl } from "./control.js";
import { Quantiles } from "./quantiles.js";
import type { PoolStats, ThreadStats } from "./report.js";

export interface ThreadCalls {
  readonly running: number;
  readonly control: ControlLine<ThreadControl>;
}

/** A healthy thread answers in well under a millisecond. */
const ANSWER_MS = 100;

interface Known {
  figures: LoopFigures | undefined;
  utilization: ReturnType<Worker["performance"]["eventLoopUtilization"]>;
}

export class Meters {
  readonly #wait = new Quantiles();
  readonly #run = new Quantiles();
  readonly #known = new Map<number, Known>();
  #done = 0;
  #lost = 0;
  #reruns = 0;

  noteCall(waitMs: number, runMs: number): void {
    this.#done += 1;
    this.#wait.record(Math.max(0, waitMs));
    this.#run.record(runMs);
  }

  noteLoss(threadId: number): void {
    this.#lost += 1;
    this.#known.delete(threadId);
  }

  noteReruns(count: number): void {
    this.#reruns += count;
  }

  async read(
    pool: Pick<PoolStats, "queued" | "queuedBytes" | "executionsQueued" | "running"> & {
      readonly threads: readonly Worker[];
      readonly lanes: ReadonlyMap<number, ThreadCalls>;
    },
  ): Promise<PoolStats> {
    const { threads, lanes, ...counts } = pool;
    for (const id of this.#known.keys()) {
      if (!threads.some(({ threadId }) => threadId === id)) this.#known.delete(id);
    }
    return {
      ...counts,
      done: this.#done,
      waitMs: this.#wait.read(),
      runMs: this.#run.read(),
      lostThreads: this.#lost,
      reruns: this.#reruns,
      threads: await Promise.all(
        threads.map((thread) => this.#readThread(thread, lanes.get(thread.threadId))),
      ),
    };
  }

  async #readThread(thread: Worker, lane: ThreadCalls | undefined): Promise<ThreadStats> {
    const { threadId: id } = thread;
    const before = this.#known.get(id);
    const now = thread.performance.eventLoopUtilization();
    // Time that is not over yet can make it a little more than all, or less than nothing.
    const { utilization } = thread.performance.eventLoopUtilization(now, before?.utilization);
    const answer = await lane?.control
      .askWithin(ANSWER_MS, (control) => control.stats())
      .catch(() => undefined); // the thread ended meanwhile
    const figures = answer ?? before?.figures;
    this.#known.set(id, { figures, utilization: now });
    return {
      id,
      running: lane?.running ?? 0,
      utilisation: Math.min(1, Math.max(0, utilization || 0)),
      figures,
      isResponding: lane === undefined || answer !== undefined,
    };
  }
}
