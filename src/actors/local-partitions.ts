// LocalPartitions: the partitions that run in this thread, all of a log or some. The host's thread and a partition thread
// run this same code.
//
// Owns       the partitions it has opened.
// Leaves     the log to the EventStore, which its owner closes.
//
// H1  What runs effects outside this thread is there before the first partition recovers, and goes after the last is closed.
// H2  An opening that fails half-way closes what it had opened.

import { type EffectExecutor, type EffectRuntime, InlineExecutor, type Ledger } from "../effects/index.js";
import {
  type Clock,
  type Entropy,
  type EventStore,
  NO_VAULT,
  type SnapshotStore,
  type ValueLimits,
  type Vault,
} from "../kernel/index.js";
import type { Admission } from "./admission.js";
import type { Caution } from "./caution.js";
import type { FlowRegistry } from "./flow-registry.js";
import type { Observer } from "./observer.js";
import { Partition, type PartitionLoad } from "./partition.js";
import type { PartitionHost } from "./partition-host.js";
import { StateReader } from "./state-reader.js";

/** What runs effects outside this thread. */
export interface OutsideEffects {
  open(): Promise<void>;
  close(deadlineMs: number): Promise<void>;
}

export interface LocalPartitionsOptions {
  readonly eventStore: EventStore;
  readonly snapshotStore: SnapshotStore;
  readonly effectRuntime: EffectRuntime;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly limits: ValueLimits;
  /** Default: without a key. */
  readonly vault?: Vault | undefined;
  readonly registry: FlowRegistry;
  readonly observer: Observer;
  readonly snapshotEvery: number | undefined;
  /** Idle executions kept in memory by each partition. */
  readonly maxResident: number;
  /** Numbers of the partitions to run here. Default: all. */
  readonly partitions?: readonly number[] | undefined;
  readonly effects?: OutsideEffects | undefined;
  /** The budgets that hold for what runs here. */
  readonly ledger?: Ledger | undefined;
  /** Bounds what the partitions have at work together. */
  readonly admission?: Admission | undefined;
  readonly caution?: Caution | undefined;
  /** Awaited before each pass; see PartitionOptions. */
  readonly pace?: (() => Promise<void> | undefined) | undefined;
  /** What stands between the partitions and the executor, as the simulator does. Default: nothing. */
  readonly around?: ((executor: EffectExecutor) => EffectExecutor) | undefined;
}

export class LocalPartitions implements PartitionHost {
  readonly #options: LocalPartitionsOptions;
  #opening: Promise<readonly Partition[]> | undefined;
  #partitions: readonly Partition[] = [];

  constructor(options: LocalPartitionsOptions) {
    this.#options = options;
  }

  open(): Promise<readonly Partition[]> {
    this.#opening = this.#open();
    return this.#opening;
  }

  flowRegistered(): void {
    for (const partition of this.#partitions) partition.retrySetAside();
  }

  /** Of all partitions here together. */
  get load(): PartitionLoad {
    const total = { resident: 0, ready: 0, attempts: 0, heldBack: 0, commits: 0 };
    for (const { load } of this.#partitions) {
      for (const count of Object.keys(total) as (keyof PartitionLoad)[]) total[count] += load[count];
    }
    return total;
  }

  async close(deadlineMs: number): Promise<void> {
    await this.#opening?.catch(() => {}); // whoever opened was told
    const isOpen = this.#partitions.length > 0;
    await Promise.all(this.#partitions.map((partition) => partition.close(deadlineMs)));
    this.#partitions = [];
    if (isOpen) await this.#options.effects?.close(deadlineMs); // H1
  }

  async #open(): Promise<readonly Partition[]> {
    const { eventStore, effectRuntime, clock, entropy, limits, registry, observer, effects } = this.#options;
    const { vault = NO_VAULT } = this.#options;
    const inline = new InlineExecutor(effectRuntime, clock, limits, vault);
    const executor: EffectExecutor = this.#options.around?.(inline) ?? inline;
    const states = new StateReader(this.#options.snapshotStore, this.#options.snapshotEvery);
    const { maxResident, admission, caution, pace, ledger } = this.#options;
    const shared = {
      clock,
      entropy,
      limits,
      vault,
      executor,
      registry,
      observer,
      states,
      maxResident,
      admission,
      caution,
      pace,
      ledger,
    };
    const numbers = this.#options.partitions ?? Array.from({ length: eventStore.partitions }, (_, i) => i);
    const partitions: Partition[] = [];
    await effects?.open(); // H1
    try {
      for (const number of numbers) {
        partitions.push(new Partition({ ...shared, log: await eventStore.open(number) }));
      }
      for (const partition of partitions) await partition.bringTotals();
      for (const partition of partitions) await partition.recover();
    } catch (error) {
      for (const partition of partitions) await partition.close(0); // H2
      await effects?.close(0);
      throw error;
    }
    this.#partitions = partitions;
    return partitions;
  }
}
