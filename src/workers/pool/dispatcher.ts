// Dispatcher: gives calls that wait to threads, and spreads them when one has too many.
//
// S1  What is called within one turn of the host leaves together, once everything that the turn leads to has made its calls.
// S2  A call goes to the open lane with the fewest unfinished ones, and to none that has callsPerThread of them.
// S3  A call that has not started after a moment goes to a thread that is free; when there is none, one is started.
// S4  A suspect gets a thread to itself. One lane at a time takes nothing new until it is free for the next suspect.

import type { PendingCall } from "./call.js";
import type { Crew } from "./crew.js";
import type { Deadlines } from "./deadlines.js";
import type { Lane } from "./lane.js";
import type { PoolLimits } from "./options.js";
import type { WaitingRoom } from "./waiting-room.js";

/** A call that has waited this long behind others on its thread goes to one that is free. */
const MOVE_AFTER_MS = 2;
/** Work that has waited this long is a reason to start a thread, which takes longer than that. */
const GROW_AFTER_MS = 20;

const resolved = Promise.resolve();

export interface DispatcherOptions {
  readonly crew: Crew;
  readonly waiting: WaitingRoom;
  readonly deadlines: Deadlines;
  readonly limits: PoolLimits;
  /** After each round. */
  readonly onRound: () => void;
}

export class Dispatcher {
  /** When the present turn of the host began to make calls. */
  turnAt = 0;
  readonly #crew: Crew;
  readonly #waiting: WaitingRoom;
  readonly #deadlines: Deadlines;
  readonly #onRound: () => void;
  #limits: PoolLimits;
  /** S4 */
  #reserved: Lane | undefined;
  #isPlanned = false;
  #flushTimer: NodeJS.Timeout | undefined;
  #balanceTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor({ crew, waiting, deadlines, limits, onRound }: DispatcherOptions) {
    this.#crew = crew;
    this.#waiting = waiting;
    this.#deadlines = deadlines;
    this.#limits = limits;
    this.#onRound = onRound;
  }

  /** S1 */
  plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.turnAt = performance.now();
    // Cheaper than queueMicrotask, which makes a resource for async hooks each time.
    void resolved.then(this.#soon);
  }

  tune(limits: PoolLimits): void {
    this.#limits = limits;
    this.plan();
  }

  /** A lane can take calls. */
  opened(lane: Lane): void {
    this.#crew.noteIdle(lane);
    this.#balance();
    this.plan();
  }

  /** A thread has sent a packet. */
  heard(lane: Lane): void {
    if (lane.load === 0) {
      lane.isSolo = false;
      if (lane.phase === "open") this.#crew.noteIdle(lane);
    }
    if (this.#waiting.size > 0 || this.#isLopsided()) this.plan();
  }

  /** A lane is over. */
  forget(lane: Lane): void {
    if (this.#reserved === lane) this.#reserved = undefined;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#flushTimer);
    clearTimeout(this.#balanceTimer);
  }

  readonly #soon = (): void => process.nextTick(this.#round);

  readonly #round = (): void => {
    this.#isPlanned = false;
    if (this.#isStopped) return;
    const now = performance.now();
    if (this.#waiting.suspects > 0) this.#placeSuspects(now);
    for (let lane = this.#freest(); lane; lane = this.#freest()) {
      const call = this.#waiting.take();
      if (!call) break;
      this.#send(lane, call, now);
      if (lane.isPacketFull(this.#limits.packet.maxCalls)) lane.flush();
    }
    this.#waiting.noteTime(now);
    this.#planFlush();
    this.#onRound();
    if (this.#isLopsided()) this.#planBalance();
  };

  #send(lane: Lane, call: PendingCall, now: number): void {
    lane.send(call, now);
    this.#deadlines.watch(call, lane);
  }

  /** S2 */
  #freest(): Lane | undefined {
    let freest: Lane | undefined;
    let least = this.#limits.callsPerThread;
    for (const lane of this.#crew.lanes) {
      if (lane.phase !== "open" || lane.isSolo || lane === this.#reserved || lane.load >= least) continue;
      freest = lane;
      least = lane.load;
    }
    return freest;
  }

  /** S4 */
  #placeSuspects(now: number): void {
    let reserved: Lane | undefined;
    for (const lane of this.#crew.lanes) {
      if (lane.phase !== "open") continue;
      const suspect = lane.load === 0 ? this.#waiting.takeSuspect() : undefined;
      if (suspect) {
        lane.isSolo = true;
        this.#send(lane, suspect, now);
      } else if (!lane.isSolo && (!reserved || lane.load < reserved.load)) reserved = lane;
    }
    this.#reserved = this.#waiting.suspects > 0 ? reserved : undefined;
  }

  #planFlush(): void {
    const { maxDelayMs } = this.#limits.packet;
    if (maxDelayMs === 0) this.#flush();
    else this.#flushTimer ??= setTimeout(this.#flush, maxDelayMs);
  }

  readonly #flush = (): void => {
    this.#flushTimer = undefined;
    for (const lane of this.#crew.lanes) lane.flush();
  };

  /** Whether there may be work for a thread that has none, or that is not there. */
  #isLopsided(): boolean {
    let isAnyFree = this.#crew.canGrow;
    let isAnyCrowded = this.#waiting.size > 0;
    for (const lane of this.#crew.lanes) {
      if (isFree(lane)) isAnyFree = true;
      if (lane.load > 1) isAnyCrowded = true;
    }
    return isAnyFree && isAnyCrowded;
  }

  #planBalance(): void {
    // With no thread at work there is nothing to be patient about.
    if (this.#waiting.size > 0 && this.#crew.lanes.size === 0) this.#crew.grow();
    this.#balanceTimer ??= setTimeout(this.#balance, MOVE_AFTER_MS);
  }

  /** S3 */
  readonly #balance = (): void => {
    clearTimeout(this.#balanceTimer);
    this.#balanceTimer = undefined;
    if (this.#isStopped) return;
    const now = performance.now();
    if (this.#waiting.size === 0) {
      for (const lane of this.#crew.lanes) if (isFree(lane)) this.#fill(lane, now);
    }
    if (this.#hasWaitedSince(now - GROW_AFTER_MS)) this.#crew.grow();
    if (this.#isLopsided() && this.#hasWaitedSince(now)) this.#planBalance();
  };

  /** Whether a call has been waiting since then, for a thread or behind others on one. */
  #hasWaitedSince(time: number): boolean {
    if (this.#waiting.hasWaitedSince(time)) return true;
    for (const lane of this.#crew.lanes) if (lane.load > 1 && lane.unstarted(time).length > 0) return true;
    return false;
  }

  /** Gives a free thread half of what waits behind others on the most crowded one. */
  #fill(free: Lane, now: number): void {
    let longest: PendingCall[] = [];
    let crowded: Lane | undefined;
    for (const lane of this.#crew.lanes) {
      if (lane === free || lane.load < 2) continue;
      const unstarted = lane.unstarted(now - MOVE_AFTER_MS);
      if (unstarted.length > longest.length) [longest, crowded] = [unstarted, lane];
    }
    for (const call of longest.slice(Math.floor(longest.length / 2))) {
      if (crowded?.takeBack(call)) this.#send(free, call, now);
    }
    free.flush();
  }
}

function isFree({ phase, load, isSolo }: Lane): boolean {
  return phase === "open" && load === 0 && !isSolo;
}
