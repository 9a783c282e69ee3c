// EffectPool: runs effects of a module on threads. Knows nothing of actors: a call comes in, its outcome goes out.
//
// Owns       which calls are in, what they come to, and what becomes of those whose thread is lost.
// Leaves     who waits to waiting-room.ts, which thread gets which call to dispatcher.ts, threads to crew.ts and lane.ts,
//            time to deadlines.ts, guilt to verdict.ts.
//
// E1  Every call is settled exactly once, whatever happens to its thread and whenever the pool is closed.
// E2  A thread has at most callsPerThread unfinished calls, the pool at most what its threads hold and maxQueue more, or
//     maxQueueBytes of inputs; what is over that is refused with OVERLOADED, and whoever asked can learn when there is room.
// E3  Executions take turns while they wait: one with 100,000 calls does not keep another's single call waiting (C-EFF-03).
// E4  A thread is ended by force for one reason only, an effect that ignores its deadline and the grace after it; and when
//     the pool closes. No sign of life is asked for: an effect may keep its thread as long as it likes (C-EFF-02).
// E5  Calls that ran beside the one that took the thread down run again with the same attempt number and key. One that lost
//     several threads that way runs alone, so that it gets done (C-EFF-01). Of a call whose result is a stream, whoever reads it says so.
// E6  An idle pool does not keep a host alive; after close the pool holds nothing: no thread, no timer, no port.

import type { Piscina } from "piscina";
import { fromWire, toWire, type Wire } from "../../kernel/codec/index.js";
import {
  afterLong,
  type Clock,
  contained,
  Deferred,
  HeddleError,
  hasCode,
  OverloadedError,
  type UsageReport,
  type ValueLimits,
} from "../../kernel/index.js";
import { type Blob, withoutBlobs } from "./blobs.js";
import { PendingCall, type PoolCall, type PoolOutcome, type WireCall } from "./call.js";
import {
  causeOf,
  closedError,
  concealed,
  deathOf,
  lostBesideError,
  lostError,
  noThreadError,
  unknownEffectError,
} from "./call-errors.js";
import { Crew } from "./crew.js";
import { Deadlines } from "./deadlines.js";
import { Dispatcher } from "./dispatcher.js";
import { IncomingStream } from "./incoming-stream.js";
import type { Lane, LaneEnd, LaneOwner } from "./lane.js";
import {
  checkTune,
  type EffectPoolOptions,
  invalid,
  type PoolLimits,
  type PoolSettings,
  readLimits,
  readSettings,
  type TuneOptions,
} from "./options.js";
import type { EffectDescription, PoolInspection, PoolStats } from "./report.js";
import { Meters, type ThreadCalls } from "./stats.js";
import { resultFrom } from "./stream-form.js";
import { judge } from "./verdict.js";
import { WaitingRoom } from "./waiting-room.js";

/** E5: so many threads lost through others. */
const LOSSES_MAX = 3;
/** Threads that ended one after the other without doing any work. */
const FAILURES_MAX = 5;
const CLOSE_DEADLINE_MS = 5_000;
/** How long aborted effects may take to clean up before the pool closes over them. */
const CLEAN_UP_MS = 100;

/** The system's timers. */
const SYSTEM: Pick<Clock, "after"> = {
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

type State =
  | { readonly kind: "opening"; readonly ready: (error?: unknown) => void }
  | { readonly kind: "open" }
  | { readonly kind: "closing"; readonly closed: Promise<void> };

const NONE: readonly never[] = [];

export class EffectPool {
  readonly #settings: PoolSettings;
  readonly #clock: Clock;
  readonly #crew: Crew;
  readonly #waiting = new WaitingRoom();
  readonly #deadlines: Deadlines;
  readonly #dispatcher: Dispatcher;
  readonly #meters = new Meters();
  readonly #roomListeners = new Set<() => void>();
  #limits: PoolLimits;
  #state: State = { kind: "open" };
  #effects: ReadonlyMap<string, EffectDescription> = new Map();
  /** Calls accepted and not over. */
  #inside = 0;
  /** Calls that room is kept for. */
  #reserved = 0;
  #wasFull = false;
  #failures = 0;
  #whenEmpty: (() => void) | undefined;

  /** Loads the module in a thread first: rejects, and leaves nothing behind, when anything is wrong with the options. */
  static async open(options: EffectPoolOptions): Promise<EffectPool> {
    const settings = readSettings(options);
    const limits = readLimits(options);
    // Programs without a pool, and the pool's own threads, do not wait for it to load.
    const { Piscina } = await import("piscina");
    const pool = new EffectPool(Piscina, settings, limits, options.clock ?? SYSTEM);
    try {
      await pool.#start();
    } catch (error) {
      await pool.close({ deadlineMs: 0 });
      throw error;
    }
    return pool;
  }

  private constructor(
    ThreadPool: typeof Piscina,
    settings: PoolSettings,
    limits: PoolLimits,
    clock: Pick<Clock, "after">,
  ) {
    this.#settings = settings;
    this.#limits = limits;
    // Deadlines are relative: the time of day is not asked for.
    this.#clock = { after: clock.after.bind(clock), now: () => performance.now(), soon: setImmediate };
    const owner: LaneOwner = {
      opened: (lane) => this.#opened(lane),
      started: (call, lane) => this.#started(call, lane),
      emitted: (call, eventType, payload) => this.#emitted(call, eventType, payload),
      metered: (call, usage) => this.#metered(call, usage),
      streaming: (call, form, lane) => this.#streaming(call, form, lane),
      completed: (call, output, runMs, now) =>
        this.#finished(call, { kind: "completed", output }, now - call.enqueuedAt - runMs, runMs),
      failed: (call, error, hasStopped, runMs, now) => {
        // Its own reason, not the copy that was in the thread.
        const failure: unknown = hasStopped && isAwaited(call) ? call.request.signal?.reason : error;
        const outcome = { kind: "failed", error: failure, hasStopped } as const;
        this.#finished(call, outcome, now - call.enqueuedAt - runMs, runMs);
      },
      heard: (lane) => this.#heard(lane),
      ended: (lane, end) => this.#ended(lane, end),
    };
    const crew = new Crew(ThreadPool, settings, limits, owner);
    const deadlines = new Deadlines(this.#clock, settings.graceMs, (lane) => crew.kill(lane));
    this.#crew = crew;
    this.#deadlines = deadlines;
    const onRound = (): void => this.#tellRoom();
    this.#dispatcher = new Dispatcher({ crew, waiting: this.#waiting, deadlines, limits, onRound });
  }

  /** What the module exports. */
  get effects(): readonly EffectDescription[] {
    return [...this.#effects.values()];
  }

  /** E2: whether a call would be accepted now. */
  get hasRoom(): boolean {
    const { maxThreads, callsPerThread, maxQueue, maxQueueBytes } = this.#limits;
    if (this.#waiting.bytes >= maxQueueBytes) return false;
    return this.#inside + this.#reserved < maxThreads * callsPerThread + maxQueue;
  }

  /** Keeps room for a call that is on its way here. Returns the way to give it back, when the call is made or will not be. */
  reserve(): () => void {
    this.#reserved += 1;
    let isKept = true;
    return () => {
      if (!isKept) return;
      isKept = false;
      this.#reserved -= 1;
      if (this.#wasFull) this.#dispatcher.plan();
    };
  }

  /**
   * Calls back each time there is room again after there was none, one listener after the other as long as there is.
   * Returns the way to stop that.
   */
  onRoom(listener: () => void): () => void {
    this.#roomListeners.add(listener);
    this.#wasFull ||= !this.hasRoom;
    return () => void this.#roomListeners.delete(listener);
  }

  /** The effect's result, or its failure. */
  call(call: PoolCall): Promise<unknown> {
    const result = new Deferred<unknown>();
    try {
      const { input, blobs } = readInput(call.input, this.#settings.limits);
      this.#accept(call, input, blobs, (outcome) => {
        if (outcome.kind === "completed") result.resolve(fromWire(outcome.output));
        else if (outcome.kind === "streaming") result.resolve(outcome.result);
        else result.reject(outcome.error);
      });
    } catch (error) {
      // What the codec refuses fails this call alone, with the path to it.
      result.reject(error);
    }
    return result.promise;
  }

  /** The same without a promise, and with values as the log holds them. `settle` is never called before this returns. */
  dispatch(call: WireCall, settle: (outcome: PoolOutcome) => void): void {
    this.#accept(call, call.input, [], settle);
  }

  /** Figures of the pool and of each thread. A thread that is too busy to answer is shown with the last it said. */
  stats(): Promise<PoolStats> {
    const lanes = new Map<number, ThreadCalls>();
    let running = 0;
    for (const { phase, threadId, load, control } of this.#crew.lanes) {
      running += load;
      if (phase === "open") lanes.set(threadId, { running: load, control });
    }
    return this.#meters.read({
      threads: this.#crew.threads,
      lanes,
      running,
      queued: this.#waiting.size,
      queuedBytes: this.#waiting.bytes,
      executionsQueued: this.#waiting.executions,
    });
  }

  /** What runs, where and for how long. A thread that an effect keeps busy answers when it is let go. */
  inspect(): Promise<PoolInspection> {
    const open = [...this.#crew.lanes].filter(({ phase }) => phase === "open");
    return Promise.all(
      open.map(async ({ threadId, control }) => ({
        threadId,
        calls: await control.ask((thread) => thread.inspect()),
      })),
    );
  }

  /** Applies new limits while calls run. */
  tune(options: TuneOptions): void {
    checkTune(options);
    if (this.#state.kind === "closing") throw closedError();
    this.#limits = readLimits(options, this.#limits);
    this.#crew.tune(this.#limits);
    this.#dispatcher.tune(this.#limits);
  }

  /**
   * Takes no more calls, lets those under way go on until the deadline, aborts them, and ends the threads. Calls that have
   * not started, and those that were aborted, fail with RUNTIME_CLOSED. Repeated calls wait for the first.
   */
  close({ deadlineMs = CLOSE_DEADLINE_MS }: { readonly deadlineMs?: number } = {}): Promise<void> {
    if (this.#state.kind === "closing") return this.#state.closed;
    const before = this.#state;
    const closed = contained(Promise.resolve().then(() => this.#close(deadlineMs)));
    this.#state = { kind: "closing", closed };
    if (before.kind === "opening") before.ready(closedError());
    return closed;
  }

  async #start(): Promise<void> {
    const ready = new Deferred<void>();
    this.#state = {
      kind: "opening",
      ready: (error) => (error === undefined ? ready.resolve() : ready.reject(error)),
    };
    this.#crew.start();
    await ready.promise;
    const lane = [...this.#crew.lanes].find(({ phase }) => phase === "open");
    if (!lane) throw closedError();
    const effects = await lane.control.ask((thread) => thread.describe());
    this.#effects = new Map(effects.map((effect) => [effect.id, effect]));
    this.#state = { kind: "open" };
    for (const each of this.#crew.lanes) this.#crew.noteIdle(each);
  }

  async #close(deadlineMs: number): Promise<void> {
    const error = closedError();
    for (const call of this.#waiting.takeAll()) this.#over(call, error);
    for (const lane of this.#crew.lanes) {
      for (const call of lane.unstarted(Infinity)) if (lane.takeBack(call)) this.#over(call, error);
    }
    await this.#emptyWithin(deadlineMs);
    for (const lane of this.#crew.lanes) {
      for (const call of lane.calls()) {
        call.fail(error);
        call.stopTimer();
        lane.cancel(call, error);
      }
    }
    await this.#emptyWithin(CLEAN_UP_MS);
    this.#dispatcher.stop();
    for (const listener of Array.from(this.#roomListeners)) contain(listener); // there is nothing to wait for any more
    this.#roomListeners.clear();
    await this.#crew.end();
  }

  async #emptyWithin(delayMs: number): Promise<void> {
    if (this.#inside === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = afterLong(this.#clock, delayMs, resolve);
      this.#whenEmpty = () => {
        cancel();
        resolve();
      };
    });
    this.#whenEmpty = undefined;
  }

  // Calls in

  #accept(
    request: PoolCall,
    input: Wire,
    blobs: readonly Blob[],
    settle: (outcome: PoolOutcome) => void,
  ): void {
    const refusal = this.#refusalOf(request);
    if (refusal !== undefined) {
      queueMicrotask(() => settle({ kind: "failed", error: refusal }));
      return;
    }
    this.#dispatcher.plan();
    const call = new PendingCall(request, input, this.#dispatcher.turnAt, settle, blobs);
    this.#inside += 1;
    if (request.signal) {
      call.onAbort = () => this.#cancel(call, request.signal?.reason);
      request.signal.addEventListener("abort", call.onAbort, { once: true });
    }
    if (mustBeAlone(call)) this.#waiting.addSuspect(call);
    else this.#waiting.add(call);
  }

  #refusalOf({ effectId, signal }: PoolCall): unknown {
    if (this.#state.kind === "closing") return closedError();
    if (signal?.aborted) return signal.reason;
    if (!this.#effects.has(effectId)) {
      return unknownEffectError(effectId, this.#settings.module, [...this.#effects.keys()]);
    }
    if (this.hasRoom) return undefined;
    this.#wasFull = true;
    return new OverloadedError(
      "calls waiting for a thread (workers.effects.maxQueue)",
      this.#limits.maxQueue,
    );
  }

  #tellRoom(): void {
    if (this.#wasFull && this.hasRoom) {
      // Whoever comes first may take all the room there is; the others keep their places.
      for (const listener of Array.from(this.#roomListeners)) {
        if (!this.hasRoom) break;
        if (this.#roomListeners.has(listener)) contain(listener);
      }
    }
    this.#wasFull = !this.hasRoom;
  }

  #cancel(call: PendingCall, reason: unknown): void {
    if (this.#waiting.remove(call) || call.seat?.takeBack(call)) return this.#over(call, reason);
    if (!isAwaited(call)) call.stop(reason);
    call.seat?.cancel(call, reason);
  }

  // What threads say

  #opened(lane: Lane): void {
    if (this.#state.kind !== "opening") return this.#dispatcher.opened(lane);
    for (const { phase } of this.#crew.lanes) if (phase !== "open") return;
    this.#state.ready();
  }

  #heard(lane: Lane): void {
    // Until all of them are there, no lane is idle.
    if (this.#state.kind === "opening") return;
    this.#dispatcher.heard(lane);
    if (this.#wasFull) this.#dispatcher.plan();
  }

  #started(call: PendingCall, lane: Lane): void {
    if (call.isSettled) return;
    if (call.request.onStart) contain(call.request.onStart);
    this.#deadlines.begin(call, lane);
  }

  #emitted(call: PendingCall, eventType: string, payload: Wire): void {
    const { emit } = call.request;
    if (emit && !call.isSettled) contain(() => emit(eventType, fromWire(payload)));
  }

  #metered(call: PendingCall, usage: UsageReport): void {
    const { meter } = call.request;
    if (meter && !call.isSettled) contain(() => meter(usage));
  }

  #streaming(call: PendingCall, form: Wire, lane: Lane): void {
    if (call.isSettled) return; // the thread was told to stop, and will say when it has
    const stream = new IncomingStream({
      taken: () => lane.taken(call),
      letGo: () => lane.cancel(call, new HeddleError("EXECUTION_ENDED", "Nobody reads the stream any more.")),
    });
    call.deliver(stream, resultFrom(stream, form));
  }

  #finished(call: PendingCall, outcome: PoolOutcome, waitMs: number, runMs: number): void {
    this.#failures = 0;
    this.#meters.noteCall(waitMs, runMs);
    call.stopTimer();
    if (call.isSettled) contain(() => call.settleLate(outcome));
    else call.settle(outcome);
    this.#left();
  }

  /** A call that no thread has, and none will get. */
  #over(call: PendingCall, error?: unknown): void {
    call.stopTimer();
    if (error !== undefined) call.fail(error);
    this.#left();
    if (this.#wasFull) this.#dispatcher.plan();
  }

  #left(): void {
    this.#inside -= 1;
    if (this.#inside === 0) this.#whenEmpty?.();
  }

  // Lost threads

  #ended(lane: Lane, end: LaneEnd): void {
    this.#crew.drop(lane);
    this.#dispatcher.forget(lane);
    if (end.kind !== "retired") {
      if (this.#state.kind === "opening") this.#state.ready(this.#openingError(end));
      this.#recover(lane, end);
    }
    if (this.#state.kind === "open") this.#dispatcher.plan();
  }

  #openingError(end: LaneEnd): unknown {
    if (end.kind === "refused") return end.error;
    if (end.kind === "died" && end.error instanceof HeddleError) return end.error;
    // In Piscina's words.
    if (end.kind === "died" && String(end.error).includes("No handler function")) {
      return invalid("entry", `${this.#settings.entry.href} is not heddle's effects.worker.cjs`, end.error);
    }
    const option = "workers.effects.module";
    return new HeddleError(
      "CONFIG_INVALID",
      `${option} ${this.#settings.module} cannot be loaded: the thread that loaded it ${deathOf(end)}.`,
      { details: { option, module: this.#settings.module }, ...causeOf(end) },
    );
  }

  /** E5 */
  #recover(lane: Lane, reported: LaneEnd): void {
    const started: PendingCall[] = [];
    const unstarted: PendingCall[] = [];
    for (const call of lane.takeAll()) {
      call.stopTimer();
      call.seat = undefined;
      (lane.hasStarted(call) ? started : unstarted).push(call);
    }
    if (this.#state.kind !== "closing") this.#meters.noteLoss(lane.threadId);
    const end = concealed(reported, started);
    const { lost, suspects, innocent } = judge(end, started, lane.isSolo);
    for (const call of lost) this.#over(call, lostError(call.request, end));
    for (const call of suspects) this.#rerun(call, true, end);
    // The youngest first, because each is put in front.
    for (const call of unstarted.reverse()) this.#rerun(call, false, end);
    for (const call of innocent.toReversed()) {
      call.lostThreads += 1;
      this.#rerun(call, mustBeAlone(call), end);
    }
    this.#meters.noteReruns(suspects.length + innocent.length);
    if (started.length === 0 && lane.done === 0) this.#noteFailure(end);
  }

  #rerun(call: PendingCall, isAlone: boolean, end: LaneEnd): void {
    // Whoever reads its stream has begun to: that cannot be done over from here.
    if (call.stream) this.#over(call, lostBesideError(call.request, end));
    else if (call.isSettled || this.#state.kind === "closing") this.#over(call, closedError());
    else if (call.request.signal?.aborted) this.#over(call, call.request.signal.reason);
    else if (isAlone) this.#waiting.addSuspect(call);
    else this.#waiting.putBack(call);
  }

  /** Threads that end before they do any work would be replaced for ever: the calls that wait for one are told. */
  #noteFailure(end: LaneEnd): void {
    if (this.#state.kind !== "open") return;
    this.#failures += 1;
    if (this.#failures < FAILURES_MAX) return;
    this.#failures = 0;
    for (const call of this.#waiting.takeAll()) {
      this.#over(call, noThreadError(call.request, end, FAILURES_MAX));
    }
  }
}

/** Whether it was told to stop, and is waited for all the same. */
function isAwaited({ request: { signal, stop } }: PendingCall): boolean {
  return stop?.aborted === true && signal?.aborted === true && signal.reason === stop.reason;
}

/** E5 */
function mustBeAlone({ lostThreads }: PendingCall): boolean {
  return lostThreads >= LOSSES_MAX;
}

/** An input that is too large for a packet may be let in without its blobs. */
function readInput(
  input: unknown,
  limits: ValueLimits,
): { readonly input: Wire; readonly blobs: readonly Blob[] } {
  try {
    return { input: toWire(input, limits), blobs: NONE };
  } catch (error) {
    const lighter = hasCode(error, "VALUE_TOO_LARGE") ? withoutBlobs(input) : undefined;
    if (!lighter || lighter.blobs.length === 0) throw error;
    return { input: toWire(lighter.input, limits), blobs: lighter.blobs };
  }
}

/** A caller's own function: what it throws is not the pool's business. */
function contain(call: () => void): void {
  try {
    call();
  } catch {
    // Nobody is left to tell.
  }
}
