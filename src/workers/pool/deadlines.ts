// Deadlines: how long a call may run, and what happens when it does not stop.
//
// D1  A deadline counts from the start of the effect, not from when its call was made or sent.
// D2  When it passes, the call fails and the effect's signal is aborted.
// D3  An effect that goes on regardless for the grace time more has its thread ended.
// D4  A thread that is kept from saying that an effect has begun, by that very effect, does not save it: that it has begun
//     can be seen in the claims, and the deadline counts from when it was seen.

import { afterLong, type Clock } from "../../kernel/index.js";
import type { PendingCall } from "./call.js";
import { timedOutError } from "./call-errors.js";
import type { Lane } from "./lane.js";

export class Deadlines {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #kill: (lane: Lane) => void;

  constructor(clock: Clock, graceMs: number, kill: (lane: Lane) => void) {
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.#kill = kill;
  }

  /** The call was sent. (D4) */
  watch(call: PendingCall, lane: Lane): void {
    const { timeoutMs } = call.request;
    if (timeoutMs === undefined) return;
    call.cancelTimer = afterLong(this.#clock, timeoutMs, () => {
      if (lane.hasStarted(call)) this.begin(call, lane);
      else this.watch(call, lane);
    });
  }

  /** Its effect has begun. (D1) */
  begin(call: PendingCall, lane: Lane): void {
    const { timeoutMs } = call.request;
    if (timeoutMs === undefined) return;
    call.stopTimer();
    call.cancelTimer = afterLong(this.#clock, timeoutMs, () => {
      const error = timedOutError(call.request, timeoutMs);
      call.stop(error);
      lane.cancel(call, error); // D2
      call.cancelTimer = afterLong(this.#clock, this.#graceMs, () => this.#kill(lane)); // D3
    });
  }
}
