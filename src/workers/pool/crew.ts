// Crew: the threads of a pool. Piscina makes, limits and ends them; a lane is opened on one when there is work for it.
//
// W1  Never more lanes than maxThreads, and never more than one being opened: a thread takes a while to start, and a second
//     one asked for meanwhile may turn out not to be needed.
// W2  An idle lane is retired after a moment. A host that has nothing else to do may end then: an idle pool holds nothing.
// W3  Threads beyond minThreads that stay idle for idleTimeoutMs are ended; threads that died are replaced up to minThreads.

import type { Worker } from "node:worker_threads";
import type { Piscina } from "piscina";
import { Lane, type LaneOwner } from "./lane.js";
import type { PoolLimits, PoolSettings } from "./options.js";

/** How long a lane stays open without a call. Opening one on a warm thread costs a fraction of a millisecond. */
const LINGER_MS = 100;

export class Crew {
  readonly lanes = new Set<Lane>();
  readonly #owner: LaneOwner;
  readonly #settings: PoolSettings;
  readonly #piscina: Piscina;
  /** Lanes that have ended and not let go of everything. */
  readonly #ending = new Set<Promise<void>>();
  /** Threads that have not exited, those that Piscina has given up among them. */
  readonly #alive = new Map<Worker, Promise<void>>();
  #limits: PoolLimits;
  /** A thread is starting already: its lane is opened when it is there. */
  #awaitsThread = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #isEnding = false;

  constructor(ThreadPool: typeof Piscina, settings: PoolSettings, limits: PoolLimits, owner: LaneOwner) {
    this.#owner = owner;
    this.#settings = settings;
    this.#limits = limits;
    this.#piscina = new ThreadPool({
      filename: settings.entry.href,
      name: "openLane",
      minThreads: limits.minThreads,
      maxThreads: limits.maxThreads,
      idleTimeout: limits.idleTimeoutMs,
      concurrentTasksPerWorker: 1,
      // They would freeze the event loop of an idle thread, and with it whatever lives there (C-EFF-02).
      atomics: "disabled",
      recordTiming: false,
      ...(settings.resourceLimits && { resourceLimits: settings.resourceLimits }),
    });
    this.#noteThreads();
    this.#piscina.on("workerCreate", () => setImmediate(() => this.#threadStarted()));
    // Errors of threads that have no lane.
    this.#piscina.on("error", (error: unknown) => this.#threadFailed(error));
  }

  get threads(): readonly Worker[] {
    return this.#piscina.threads;
  }

  get canGrow(): boolean {
    return this.lanes.size < this.#limits.maxThreads && !this.#isEnding;
  }

  /** Opens lanes on all threads that are to be there from the start. */
  start(): void {
    for (let n = Math.max(1, this.#limits.minThreads); n > 0; n--) this.#open();
  }

  /** W1 */
  grow(): void {
    if (!this.canGrow || this.#awaitsThread) return;
    // A lane that is being retired has a thread that is free in a moment: its end is heard of.
    for (const { phase } of this.lanes) if (phase === "opening" || phase === "retiring") return;
    if (this.#piscina.threads.length > this.lanes.size && this.#piscina.idleThreads === 0) {
      this.#awaitsThread = true;
      return;
    }
    this.#open();
  }

  /** The lane is over: its owner has been told. */
  drop(lane: Lane): void {
    this.lanes.delete(lane);
    this.#ending.add(lane.over);
    void lane.over.then(() => this.#ending.delete(lane.over));
    this.#noteThreads();
  }

  kill(lane: Lane): void {
    lane.kill();
    this.#noteThreads();
  }

  /** W2 */
  noteIdle(lane: Lane): void {
    lane.idleSince = performance.now();
    this.#idleTimer ??= setTimeout(this.#retireIdle, LINGER_MS).unref();
  }

  tune(limits: PoolLimits): void {
    this.#limits = limits;
    const { options } = this.#piscina;
    options.minThreads = limits.minThreads;
    options.maxThreads = limits.maxThreads;
    options.idleTimeout = limits.idleTimeoutMs;
    for (const { phase, control } of this.lanes) {
      if (phase === "open") control.ask((thread) => thread.tune(limits.packet.maxCalls)).catch(() => {});
    }
    // Piscina looks at the limits when a thread becomes idle or busy: a lane on each idle thread makes it look, and one
    // for each thread that is missing makes it start.
    const missing = Math.max(this.#piscina.idleThreads, limits.minThreads - this.lanes.size);
    for (let n = missing; n > 0 && this.canGrow; n--) this.#open();
  }

  /** Ends all threads, whatever they do. */
  async end(): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#idleTimer);
    // Piscina replaces a thread when it hears of its end, which may be after it has destroyed all that there were.
    this.#piscina.options.minThreads = 0;
    for (const lane of this.lanes) if (lane.phase === "opening") this.kill(lane);
    this.#noteThreads();
    await this.#piscina.destroy();
    await Promise.all([...this.lanes].map(({ over }) => over));
    await Promise.all(this.#ending);
    await Promise.all(this.#alive.values());
  }

  #open(): void {
    const { module, loadTimeoutMs, limits } = this.#settings;
    this.lanes.add(
      new Lane(this.#owner, {
        piscina: this.#piscina,
        module,
        loadTimeoutMs,
        limits,
        maxCalls: this.#limits.packet.maxCalls,
      }),
    );
    this.#noteThreads();
  }

  #threadStarted(): void {
    this.#noteThreads();
    if (!this.#awaitsThread) return;
    this.#awaitsThread = false;
    this.grow();
  }

  /** A thread that dies before it takes up its lane leaves the lane waiting for one. */
  #threadFailed(error: unknown): void {
    this.#threadStarted();
    for (const lane of this.lanes)
      if (lane.phase === "opening") lane.kill(error ?? new Error("unknown error"));
  }

  readonly #retireIdle = (): void => {
    this.#idleTimer = undefined;
    const latest = performance.now() - LINGER_MS + 1;
    let isAnyIdle = false;
    for (const lane of this.lanes) {
      if (lane.phase !== "open" || lane.load > 0) continue;
      if (lane.idleSince <= latest && !lane.control.isAsked) lane.retire();
      else isAnyIdle = true;
    }
    if (isAnyIdle) this.#idleTimer = setTimeout(this.#retireIdle, LINGER_MS).unref();
  };

  /** Piscina forgets a thread as soon as it begins to end it; the crew does not before it has ended. */
  #noteThreads(): void {
    for (const thread of this.#piscina.threads) {
      if (this.#alive.has(thread)) continue;
      const exit = new Promise<void>((resolve) => thread.once("exit", () => resolve()));
      void exit.then(() => this.#alive.delete(thread));
      this.#alive.set(thread, exit);
    }
  }
}
