// Timers: when the partition has to look at its timer index again. The index is the truth; this only remembers the
// earliest due time and which rows are being worked on, so parked executions cost no memory here.
//
// T1  A timer never fires early, and an overdue one fires at the next look, earliest first.
// T2  A look that was promised takes place, also when the clock was set back meanwhile and nothing is due any more: it is the
//     look that asks when the next one is.
// T3  Waits are cut into pieces a platform timer can hold, so a far-off due time neither overflows nor fires at once.

import type { Clock, PartitionLog, TimerRow } from "../kernel/index.js";

/** Longest single wait. Anything below 2^31 ms works; an hour also bounds the harm of a clock that jumps. */
const LONGEST_WAIT_MS = 60 * 60 * 1000;
/** Timers taken up in one pass: overdue work comes in portions, between which new work gets its turn. */
const DUE_PER_PASS = 256;

export class Timers {
  readonly #log: PartitionLog;
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #working = new Set<string>();
  #nextAt = Infinity;
  #cancel: (() => void) | undefined;
  #waitingFor = Infinity;
  /** Whether a pass was woken that has not looked yet. (T2) */
  #isAwaited = false;

  constructor(log: PartitionLog, clock: Clock, wake: () => void) {
    this.#log = log;
    this.#clock = clock;
    this.#wake = wake;
  }

  async start(): Promise<void> {
    this.#nextAt = (await this.#log.nextTimer(-Infinity)) ?? Infinity;
    this.#schedule();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#waitingFor = Infinity;
    this.#working.clear();
    this.#nextAt = Infinity;
    this.#isAwaited = false;
  }

  /** Takes note of timers that were just made durable. */
  armed(rows: readonly TimerRow[]): void {
    for (const { wakeAt } of rows) {
      if (wakeAt < this.#nextAt) this.#nextAt = wakeAt;
    }
    this.#schedule();
  }

  /** Takes note of timers that are gone for good. */
  disarmed(rows: readonly TimerRow[]): void {
    for (const row of rows) this.#working.delete(nameOf(row));
  }

  /** Gives out again what is due, also what was given out and left: whoever is given a timer twice heeds it once. */
  lookAgain(): void {
    this.#working.clear();
    this.#nextAt = -Infinity;
  }

  isDue(now: number): boolean {
    return this.#isAwaited || this.#nextAt <= now;
  }

  /** The timers to work on now. Each is given out once, until `disarmed`. */
  async takeDue(now: number): Promise<TimerRow[]> {
    this.#isAwaited = false;
    this.#nextAt = Infinity; // what is armed while the index is read is noted, whichever read is to see it
    const rows = await this.#log.timersDue(now, DUE_PER_PASS + this.#working.size);
    const fresh = rows.filter((row) => !this.#working.has(nameOf(row))).slice(0, DUE_PER_PASS);
    for (const row of fresh) this.#working.add(nameOf(row));
    // More may be due than fit into this pass; then the next pass looks at once. Otherwise ask when the next one is.
    const nextAt = fresh.length === DUE_PER_PASS ? now : ((await this.#log.nextTimer(now)) ?? Infinity);
    this.#nextAt = Math.min(this.#nextAt, nextAt);
    this.#schedule();
    return fresh;
  }

  #schedule(): void {
    if (this.#nextAt >= this.#waitingFor) return;
    this.#cancel?.();
    this.#waitingFor = this.#nextAt;
    const delay = this.#nextAt - this.#clock.now();
    this.#cancel = this.#clock.after(Math.min(Math.max(delay, 0), LONGEST_WAIT_MS), () => {
      this.#cancel = undefined;
      this.#waitingFor = Infinity;
      if (this.#nextAt > this.#clock.now()) return this.#schedule();
      this.#isAwaited = true;
      this.#wake();
    });
  }
}

function nameOf(row: TimerRow): string {
  return `${row.wakeAt}/${row.key}/${row.gateId}`;
}
