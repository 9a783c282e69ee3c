// Scheduler: simulated time, and everything that waits for it. What is due at one instant runs in an order that chance picks.
//
// Owns       the instant, the tasks, and who of those they belong to is alive.
// Leaves     what a task does to whoever scheduled it; when to take the next one to the simulation.
//
// D1  One task runs at a time. The simulation drains every promise reaction before the next.
// D2  Time moves only when nothing is due, and then to the next task that may run.
// D3  A lane that has ended runs nothing any more; one that is paused keeps its tasks and runs them late.

import { type Clock, TIMER_MS_MAX } from "../../kernel/clock.js";
import type { SimRandom } from "./random.js";

interface Task {
  readonly at: number;
  readonly lane: Lane;
  readonly run: () => void;
}

/** Whose tasks they are: a process, a machine, the clients. */
export interface Lane {
  readonly name: string;
  state: "running" | "paused" | "ended";
}

/** 1 January 2026: an instant with a full set of digits, so that a truncated one shows. */
export const DAWN = Date.UTC(2026, 0, 1);

export class Scheduler {
  /** Milliseconds since the simulation began. It only grows. */
  elapsed = 0;
  /** Whose task ran last: until the next one, whatever goes on is theirs. */
  active: Lane | undefined;
  /** By how much the clock on the wall was set forward, or back. */
  #stepMs = 0;
  #tasks: Task[] = [];
  readonly #random: SimRandom;

  constructor(random: SimRandom) {
    this.#random = random;
  }

  /** Milliseconds since the epoch, as everybody here reads them. */
  get now(): number {
    return DAWN + this.elapsed + this.#stepMs;
  }

  /** Sets the clock on the wall. What waits goes on waiting as long as it would have. */
  stepClock(byMs: number): void {
    this.#stepMs += byMs;
  }

  /** Whether anything may run, now or later. */
  get hasTasks(): boolean {
    return this.#earliest() !== undefined;
  }

  lane(name: string): Lane {
    return { name, state: "running" };
  }

  /** Returns the way to call it off. */
  schedule(lane: Lane, delayMs: number, run: () => void): () => void {
    if (lane.state === "ended") return () => {};
    const task = { at: this.elapsed + delayMs, lane, run };
    this.#tasks.push(task);
    return () => this.#drop(task);
  }

  /** A promise that is kept after so long, unless the lane ends. */
  pause(lane: Lane, delayMs: number): Promise<void> {
    return new Promise((resolve) => this.schedule(lane, delayMs, resolve));
  }

  /** Runs one task. Returns false when there is none that may run. */
  tick(): boolean {
    const earliest = this.#earliest();
    if (earliest === undefined) return false;
    this.elapsed = Math.max(this.elapsed, earliest);
    const due = this.#tasks.filter(({ at, lane }) => lane.state === "running" && at <= this.elapsed);
    const task = due.length === 1 ? due[0]! : this.#random.pick(due);
    this.#drop(task);
    this.active = task.lane;
    task.run();
    return true;
  }

  end(lane: Lane): void {
    lane.state = "ended";
    this.#tasks = this.#tasks.filter((task) => task.lane !== lane);
  }

  /** The clock of one process. */
  clockOf(lane: Lane): Clock {
    return {
      now: () => this.now,
      after: (delayMs, callback) => {
        if (!(delayMs >= 0 && delayMs <= TIMER_MS_MAX))
          throw new RangeError(`no platform timer waits ${delayMs} ms`);
        return this.schedule(lane, delayMs, callback);
      },
      soon: (callback) => void this.schedule(lane, 0, callback),
    };
  }

  #earliest(): number | undefined {
    let earliest: number | undefined;
    for (const { at, lane } of this.#tasks)
      if (lane.state === "running" && (earliest === undefined || at < earliest)) earliest = at;
    return earliest;
  }

  #drop(task: Task): void {
    const at = this.#tasks.indexOf(task);
    if (at >= 0) this.#tasks.splice(at, 1);
  }
}
