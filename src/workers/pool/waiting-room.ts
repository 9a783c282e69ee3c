// WaitingRoom: the calls that no thread has. Most stand in the fair queue; suspects, which may take their thread down, stand
// apart, because each of them gets a thread to itself.

import { FairQueue } from "../../effects/fair-queue.js";
import type { PendingCall } from "./call.js";

export class WaitingRoom {
  readonly #queue = new FairQueue<PendingCall>();
  #suspects: PendingCall[] = [];
  #bytes = 0;
  /** Since when there has been anybody, in the time of `noteTime`. */
  #since = Infinity;

  get size(): number {
    return this.#queue.size + this.#suspects.length;
  }

  /** About how much memory the inputs of the calls take. */
  get bytes(): number {
    return this.#bytes;
  }

  get executions(): number {
    return this.#queue.keys;
  }

  get suspects(): number {
    return this.#suspects.length;
  }

  add(call: PendingCall): void {
    call.place = this.#queue.push(call.request.executionId, call);
    this.#bytes += call.bytes;
  }

  /** For calls that had left already: before all others of their execution. Of several, the youngest first. */
  putBack(call: PendingCall): void {
    call.place = this.#queue.putBack(call.request.executionId, call);
    this.#bytes += call.bytes;
  }

  addSuspect(call: PendingCall): void {
    this.#suspects.push(call);
    this.#bytes += call.bytes;
  }

  take(): PendingCall | undefined {
    return this.#left(this.#queue.take());
  }

  takeSuspect(): PendingCall | undefined {
    return this.#left(this.#suspects.shift());
  }

  takeAll(): PendingCall[] {
    const calls = [...this.#suspects.splice(0), ...this.#queue.takeAll()];
    for (const call of calls) this.#left(call);
    return calls;
  }

  /** Whether the call was here. */
  remove(call: PendingCall): boolean {
    const isQueued = call.place !== undefined && this.#queue.remove(call.place);
    const at = isQueued ? -1 : this.#suspects.indexOf(call);
    if (at >= 0) this.#suspects.splice(at, 1);
    if (!isQueued && at < 0) return false;
    this.#left(call);
    return true;
  }

  /** To be called when all that could leave has left. */
  noteTime(now: number): void {
    this.#since = this.size === 0 ? Infinity : Math.min(this.#since, now);
  }

  hasWaitedSince(time: number): boolean {
    return this.#since <= time;
  }

  #left(call: PendingCall | undefined): PendingCall | undefined {
    if (!call) return undefined;
    call.place = undefined;
    this.#bytes -= call.bytes;
    return call;
  }
}
