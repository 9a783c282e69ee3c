// SimStore: the disk as one process sees it: slow at times, failing at times, and never answering a process that is gone.
//
// Owns       what this process handed over and was not told of.
// Leaves     what is on the disk to SimDisk.
//
// O1  A commit goes through three moments, each some time after the other: handed over, written, flushed. Only then it is answered.
// O2  What a process handed over goes on without it: it may be written, or not, after the process was killed.
// O3  After a failed commit nothing is taken until a probe, as behind a real store.

import type { EffectExecutor } from "../../effects/index.js";
import {
  type CommitBatch,
  type EventEnvelope,
  type EventStore,
  type ExecutionHeader,
  HeddleError,
  type PartitionLog,
} from "../../kernel/index.js";
import { refusedAfter } from "../../kernel/store/commit-failure.js";
import { PartitionReads } from "../../kernel/store/partition-reads.js";
import type { PartitionRows } from "../../kernel/store/rows.js";
import type { SimDisk, Writer } from "./disk.js";
import type { Faults } from "./faults.js";
import type { Observer } from "./observation.js";
import type { SimRandom } from "./random.js";
import type { Lane, Scheduler } from "./scheduler.js";

export interface SimStoreOptions {
  readonly disk: SimDisk;
  readonly scheduler: Scheduler;
  readonly random: SimRandom;
  readonly process: Lane;
  /** Which process it is, counted from 1. */
  readonly generation: number;
  /** The machine it runs on: what it was handed goes on when the process does not. */
  readonly machine: Lane;
  /** As they are just now. */
  readonly faults: () => Faults;
  readonly observer: Observer;
  readonly tamper?: Tamper | undefined;
}

/** What stands between the kernel and its surroundings to break a rule on purpose: a simulator that finds nothing proves nothing. */
export interface Tamper {
  readonly log?: (log: PartitionLog) => PartitionLog;
  readonly executor?: (executor: EffectExecutor) => EffectExecutor;
}

export class SimStore implements EventStore {
  readonly partitions: number;
  readonly #options: SimStoreOptions;

  constructor(options: SimStoreOptions) {
    this.#options = options;
    this.partitions = options.disk.partitions;
  }

  async open(partition: number): Promise<PartitionLog> {
    const { disk, process } = this.#options;
    await this.delay();
    const epoch = disk.own(process.name, this.#options.generation, partition);
    const log = new SimPartitionLog(this.#options, this, { process: process.name, partition, epoch });
    return this.#options.tamper?.log?.(log) ?? log;
  }

  read = (...args: Parameters<EventStore["read"]>): Promise<EventEnvelope[]> =>
    this.#options.disk.reader.read(...args);
  find = (executionId: string): Promise<ExecutionHeader | undefined> =>
    this.#options.disk.reader.find(executionId);
  list = (...args: Parameters<EventStore["list"]>): Promise<ExecutionHeader[]> =>
    this.#options.disk.reader.list(...args);
  subscribe = (...args: Parameters<EventStore["subscribe"]>): (() => void) =>
    this.#options.disk.reader.subscribe(...args);

  async close(): Promise<void> {}

  /** How long a read takes, one way. */
  async delay(): Promise<void> {
    const { random, faults, scheduler, process } = this.#options;
    if (random.chance(faults().slowRead)) await scheduler.pause(process, random.pick([0, 1, 7]));
    else if (random.chance(0.2)) await scheduler.pause(process, 0);
  }
}

class SimPartitionLog extends PartitionReads implements PartitionLog {
  readonly partition: number;
  readonly epoch: number;
  readonly nextKey: number;
  readonly #options: SimStoreOptions;
  readonly #store: SimStore;
  readonly #writer: Writer;
  #failure: unknown;
  /** The commit handed over last, written or failed. */
  #before: Promise<void> = Promise.resolve();

  constructor(options: SimStoreOptions, store: SimStore, writer: Writer) {
    super();
    this.#options = options;
    this.#store = store;
    this.#writer = writer;
    this.partition = writer.partition;
    this.epoch = writer.epoch;
    this.nextKey = options.disk.rows(writer.partition).nextKey;
  }

  async commit(batch: CommitBatch): Promise<void> {
    const { disk, scheduler, random, machine, process } = this.#options;
    const isProbe = batch.executions.length === 0;
    if (isProbe) this.#failure = undefined;
    if (this.#failure !== undefined)
      throw refusedAfter(this.#failure, `Partition ${this.partition} in the simulation`); // O3
    const before = this.#before;
    const writing = (async () => {
      await scheduler.pause(machine, this.#latency());
      await before;
      return this.#write(batch);
    })();
    this.#before = writing.then(
      () => {},
      () => {},
    );
    try {
      const place = await writing; // O2: in the machine's time
      await scheduler.pause(machine, this.#latency());
      disk.flush(this.partition, place);
    } catch (error) {
      await scheduler.pause(process, 0);
      throw error;
    }
    await scheduler.pause(process, random.pick([0, 0, 1])); // O1
    disk.subscribers.publish(batch.executions);
  }

  override async lookup(...args: Parameters<PartitionLog["lookup"]>): ReturnType<PartitionLog["lookup"]> {
    return this.#slowly(() => super.lookup(...args));
  }
  override async headers(...args: Parameters<PartitionLog["headers"]>): ReturnType<PartitionLog["headers"]> {
    return this.#slowly(() => super.headers(...args));
  }
  override async load(...args: Parameters<PartitionLog["load"]>): ReturnType<PartitionLog["load"]> {
    return this.#slowly(() => super.load(...args));
  }
  override async page(...args: Parameters<PartitionLog["page"]>): ReturnType<PartitionLog["page"]> {
    return this.#slowly(() => super.page(...args));
  }
  override async timersDue(
    ...args: Parameters<PartitionLog["timersDue"]>
  ): ReturnType<PartitionLog["timersDue"]> {
    return this.#slowly(() => super.timersDue(...args));
  }
  override async nextTimer(
    ...args: Parameters<PartitionLog["nextTimer"]>
  ): ReturnType<PartitionLog["nextTimer"]> {
    return this.#slowly(() => super.nextTimer(...args));
  }

  /** Asked some time before it is looked up, answered some time after that. */
  async #slowly<T>(read: () => Promise<T>): Promise<T> {
    await this.#store.delay();
    const found = await read();
    await this.#store.delay();
    return found;
  }

  async close(): Promise<void> {}

  protected view<T>(use: (rows: PartitionRows) => T): T {
    return use(this.#options.disk.rows(this.partition));
  }

  #latency(): number {
    const { random, faults } = this.#options;
    return random.pick(random.chance(faults().slowCommit) ? [1, 11, 200] : [0, 0, 1]);
  }

  /** Returns its place among all batches of the partition, counted from 1. */
  #write(batch: CommitBatch): number {
    const { random, faults, disk, observer } = this.#options;
    try {
      if (this.#failure !== undefined) throw refusedAfter(this.#failure, `Partition ${this.partition}`);
      const isFull = random.chance(faults().failedCommit);
      if (isFull) {
        observer.see({ kind: "fault", what: `a write of ${this.#writer.process} fails` });
        throw new HeddleError("STORAGE_FAILED", "The simulated disk is full.");
      }
      return disk.write(this.#writer, batch);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}
