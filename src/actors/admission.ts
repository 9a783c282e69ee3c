// Admission: how many executions may be at work at once. One object serves all partitions of a thread.
//
// Owns       the count of executions at work, who waits to hear of room, and whose handlers wait for other executions.
// Leaves     what waits to intake: starts in line, everything recovered in the log.
//
// M1  An execution holds a slot while it runs. One that is parked (at a gate, asleep) holds none, and needs none to go on:
//     no bound can make executions wait for each other (C-CHD-01).
//     Nor does one whose handler starts or awaits another execution: it lends its slot until that handler is done.
// M2  Only starts and recovery ask for room. What has begun is never held up by what has not.

import { AsyncLocalStorage } from "node:async_hooks";
import { OverloadedError } from "../kernel/index.js";

export interface AdmissionOptions {
  /** What becomes of a start when there is no room: it waits, or it is refused with OVERLOADED. Default "wait". */
  readonly admission?: "wait" | "reject" | undefined;
  /** Executions at work at once. Default: no bound. */
  readonly maxInFlight?: number | undefined;
  /** Bytes of the inputs of starts that wait; a start over it is refused. Default 64 MiB. */
  readonly maxWaitingBytes?: number | undefined;
}

const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** The slot of an execution while one of its handlers runs. (M1) */
class Loan {
  readonly #change: (by: 1 | -1) => void;
  #isLent = false;
  #isOver = false;

  constructor(change: (by: 1 | -1) => void) {
    this.#change = change;
  }

  lend(): void {
    if (this.#isLent || this.#isOver) return;
    this.#isLent = true;
    this.#change(1);
  }

  end(): void {
    if (this.#isLent && !this.#isOver) this.#change(-1);
    this.#isOver = true;
  }
}

export class Admission {
  readonly #waits: boolean;
  readonly #maxInFlight: number;
  readonly #maxWaitingBytes: number;
  readonly #listeners: (() => void)[] = [];
  /** Whose handler code belongs to. Costs nothing before the first `follow`. */
  readonly #handlers = new AsyncLocalStorage<Loan>();
  #inFlight = 0;
  #waiting = 0;
  #waitingBytes = 0;

  constructor(options: AdmissionOptions = {}) {
    this.#waits = options.admission !== "reject";
    this.#maxInFlight = options.maxInFlight ?? Infinity;
    this.#maxWaitingBytes = options.maxWaitingBytes ?? MAX_WAITING_BYTES;
  }

  /** Executions at work. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Starts that wait for room. */
  get waiting(): number {
    return this.#waiting;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get hasRoom(): boolean {
    return this.#inFlight < this.#maxInFlight;
  }

  /** How many more may begin. */
  get room(): number {
    return Math.max(this.#maxInFlight - this.#inFlight, 0);
  }

  enter(): void {
    this.#inFlight++;
  }

  leave(): void {
    const hadRoom = this.hasRoom;
    this.#inFlight--;
    if (hadRoom || !this.hasRoom) return;
    for (const tell of this.#listeners) tell();
  }

  /** Calls back whenever there is room again after there was none. */
  onRoom(tell: () => void): void {
    this.#listeners.push(tell);
  }

  /** Whether handlers have to be followed. */
  get isBounded(): boolean {
    return this.#maxInFlight !== Infinity;
  }

  /**
   * Begins a handler of an execution at work, and follows what it does until `end` is called. `change` is told how many more,
   * or fewer, of the execution's handlers wait for other executions.
   */
  follow(begin: (end: () => void) => void, change: (by: 1 | -1) => void): void {
    const loan = new Loan(change);
    this.#handlers.run(loan, begin, () => loan.end());
  }

  /** Whoever calls this is about to wait for an execution; a handler's own execution lends its slot. */
  awaits(): void {
    this.#handlers.getStore()?.lend();
  }

  /** Lets a start of so many bytes wait, or gives the reason why it may not. */
  hold(bytes: number): OverloadedError | undefined {
    if (!this.#waits) return new OverloadedError("executions at work", this.#maxInFlight);
    if (this.#waitingBytes + bytes > this.#maxWaitingBytes)
      return new OverloadedError("bytes of starts that wait", this.#maxWaitingBytes);
    this.#waiting++;
    this.#waitingBytes += bytes;
    return undefined;
  }

  unhold(bytes: number): void {
    this.#waiting--;
    this.#waitingBytes -= bytes;
  }
}
