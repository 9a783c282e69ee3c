// TappedStore: an event store as one process sees it, with a tap on its commits.
//
// It counts them, ends the process after one of them (kept or lost), or makes them fail. Behind it stands a real store,
// which outlives the process; what a killed process still asks of it is never answered.

import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type CommitBatch,
  type EventStore,
  type ExecutionHeader,
  HeddleError,
  type PartitionLog,
  type TimerRow,
} from "../../src/kernel/index.js";

export interface CrashPlan {
  /** After which commit of this process, counted from 1. */
  readonly commit: number;
  /** Whether that commit reaches the log. Either way nobody hears of it. */
  readonly kept: boolean;
}

/** How slow a store is, in turns of the event loop. */
export interface Pace {
  /** Before a commit is visible. */
  readonly before: number;
  /** Before it is answered; every second commit is answered at once, so answers come out of order. */
  readonly after: number;
  /** Before a read is done, and again before it is answered. */
  readonly read: number;
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn();
}

const never = <T>(): Promise<T> => new Promise(() => {});

export class TappedStore implements EventStore {
  readonly partitions: number;
  /** Commits handed over, probes not counted. */
  commits = 0;
  /** Executions in the largest commit. */
  largestCommit = 0;
  /** Calls the store has not answered: while there are any, something is under way. */
  callsInFlight = 0;
  /** While set, every commit fails with it, and probes too. */
  failure: Error | undefined;
  pace: Pace = { before: 0, after: 0, read: 0 };
  /** Which commit fails first, counted from 1; it and all that follow, until a probe. */
  failAt: number | undefined;
  /** While set, every read fails with it. */
  readFailure: Error | undefined;
  /** Holds up the opening of a partition. */
  beforeOpen: ((partition: number) => Promise<void>) | undefined;
  /** Awaited before logs are read: what another owner writes meanwhile goes straight to `log`. */
  beforeLoad: ((log: PartitionLog) => Promise<void>) | undefined;
  /** Called just before a commit is handed to the store. */
  onCommit: ((batch: CommitBatch) => void) | undefined;
  isDead = false;
  readonly #inner: EventStore;
  readonly #ownsInner: boolean;
  readonly #plan: CrashPlan | undefined;
  readonly #onCrash: () => void;
  readonly #logs: PartitionLog[] = [];
  /** As behind a real store: after a failed commit nothing is taken until a probe. */
  #isBroken = false;

  constructor(
    inner: EventStore,
    options: { ownsInner: boolean; plan?: CrashPlan | undefined; onCrash: () => void },
  ) {
    this.#inner = inner;
    this.#ownsInner = options.ownsInner;
    this.#plan = options.plan;
    this.#onCrash = options.onCrash;
    this.partitions = inner.partitions;
  }

  async open(partition: number): Promise<PartitionLog> {
    await this.beforeOpen?.(partition);
    const log = await this.#watched(this.#inner.open(partition));
    this.#logs.push(log);
    return {
      partition: log.partition,
      epoch: log.epoch,
      nextKey: log.nextKey,
      commit: (batch) => this.#commit(log, batch),
      lookup: (ids) => this.#alive(() => log.lookup(ids)),
      headers: (keys) => this.#alive(() => log.headers(keys)),
      load: (keys, from) =>
        this.#alive(async () => {
          await this.beforeLoad?.(log);
          return log.load(keys, from);
        }),
      page: (status, after, limit) => this.#alive(() => log.page(status, after, limit)),
      timersDue: (now, limit) => this.#alive(() => log.timersDue(now, limit)),
      nextTimer: (after) => this.#alive(() => log.nextTimer(after)),
      meters: () => this.#alive(() => log.meters()),
      close: () => this.#watched(log.close()),
    };
  }

  /** Ends the process's hold on the log, as the operating system does after a kill. */
  async kill(): Promise<void> {
    this.isDead = true;
    await this.#release();
  }

  /** Every timer in the index, due or not. */
  async timers(): Promise<TimerRow[]> {
    const rows = await Promise.all(this.#logs.map((log) => log.timersDue(Number.MAX_VALUE, 100_000)));
    return rows.flat();
  }

  read = (...args: Parameters<EventStore["read"]>): ReturnType<EventStore["read"]> =>
    this.#inner.read(...args);
  find = (executionId: string): Promise<ExecutionHeader | undefined> => this.#inner.find(executionId);
  list = (...args: Parameters<EventStore["list"]>): ReturnType<EventStore["list"]> =>
    this.#inner.list(...args);
  subscribe = (...args: Parameters<EventStore["subscribe"]>): (() => void) => this.#inner.subscribe(...args);

  async close(): Promise<void> {
    await this.#release();
  }

  async #release(): Promise<void> {
    for (const log of this.#logs) await this.#watched(log.close());
    if (this.#ownsInner) await this.#watched(this.#inner.close());
  }

  #alive<T>(call: () => Promise<T>): Promise<T> {
    if (this.readFailure) return Promise.reject(this.readFailure);
    return this.isDead ? never() : this.#watched(this.#read(call));
  }

  /** As across a network: asked some turns later, answered some turns after that. */
  async #read<T>(call: () => Promise<T>): Promise<T> {
    await turns(this.pace.read);
    const found = await call();
    await turns(this.pace.read);
    return this.isDead ? never() : found;
  }

  async #write(log: PartitionLog, batch: CommitBatch): Promise<void> {
    const isSlow = this.commits % 2 === 1;
    await turns(this.pace.before);
    await log.commit(batch);
    if (isSlow) await turns(this.pace.after);
  }

  async #watched<T>(call: Promise<T>): Promise<T> {
    this.callsInFlight++;
    try {
      return await call;
    } finally {
      this.callsInFlight--;
    }
  }

  async #commit(log: PartitionLog, batch: CommitBatch): Promise<void> {
    if (this.isDead) return never();
    const isProbe = batch.executions.length === 0;
    if (isProbe) this.#isBroken = false;
    if (this.failure || this.#isBroken) {
      this.#isBroken = true;
      throw this.failure ?? new HeddleError("STORAGE_FAILED", "nothing is taken before a probe");
    }
    if (!isProbe) {
      this.commits++;
      this.largestCommit = Math.max(this.largestCommit, batch.executions.length);
    }
    if (!isProbe && this.commits === this.failAt) {
      this.#isBroken = true;
      await this.#watched(turns(this.pace.before + this.pace.after));
      throw new HeddleError("STORAGE_FAILED", "this one was meant to fail");
    }
    this.onCommit?.(batch);
    const isLast = !isProbe && this.commits === this.#plan?.commit;
    if (isLast) this.isDead = true;
    if (isLast && !this.#plan?.kept) {
      this.#onCrash();
      return never();
    }
    try {
      await this.#watched(this.#write(log, batch));
    } catch (error) {
      if (this.isDead) return never();
      throw error;
    }
    if (isLast) this.#onCrash();
    if (this.isDead) return never();
  }
}
