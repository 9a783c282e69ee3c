// MemoryEventStore: a log that lives as long as the object. It stands in for LMDB in tests and simulations, so it keeps
// the same bytes and refuses the same things; a partition closed and opened again still has its log.

import { HeddleError, PartitionLockedError } from "../../errors.js";
import type { EventEnvelope } from "../../events.js";
import { storeClosed } from "../commit-failure.js";
import { EventReader } from "../event-reader.js";
import type { PartitionRows } from "../rows.js";
import type {
  EventStore,
  ExecutionHeader,
  ListFilter,
  PartitionLog,
  ReadRange,
  SubscribeOptions,
} from "../spi.js";
import { type EventListener, type ListenerErrorHandler, Subscribers } from "../subscribers.js";
import type { MemoryContentStore } from "./memory-content-store.js";
import { MemoryPartitionLog } from "./memory-partition.js";
import { MemoryRows } from "./memory-rows.js";

export interface MemoryEventStoreOptions {
  /** Default 1. */
  readonly partitions?: number;
  /** Where what the logs cite is kept. */
  readonly content?: MemoryContentStore | undefined;
  readonly onListenerError?: ListenerErrorHandler;
}

interface Partition {
  readonly rows: MemoryRows;
  epoch: number;
  owner: MemoryPartitionLog | undefined;
}

export class MemoryEventStore implements EventStore {
  readonly partitions: number;
  readonly #content: MemoryContentStore | undefined;
  readonly #subscribers: Subscribers;
  readonly #reader: EventReader;
  readonly #byNumber = new Map<number, Partition>();
  #isClosed = false;

  constructor({ partitions = 1, content, onListenerError }: MemoryEventStoreOptions = {}) {
    this.partitions = partitions;
    this.#content = content;
    this.#subscribers = new Subscribers(onListenerError);
    this.#reader = new EventReader(
      this.partitions,
      (partition, use) => this.#view(partition, use),
      this.#subscribers,
    );
  }

  async open(partition: number): Promise<PartitionLog> {
    this.#checkOpen();
    if (!Number.isInteger(partition) || partition < 0 || partition >= this.partitions) {
      throw new HeddleError(
        "CONFIG_INVALID",
        `There is no partition ${partition}: the store has ${this.partitions}.`,
      );
    }
    const held = this.#byNumber.get(partition) ?? { rows: new MemoryRows(), epoch: 0, owner: undefined };
    this.#byNumber.set(partition, held);
    if (held.owner) throw new PartitionLockedError(`Partition ${partition} in memory`, undefined);
    held.epoch++;
    held.owner = new MemoryPartitionLog({
      partition,
      epoch: held.epoch,
      rows: held.rows,
      content: this.#content,
      subscribers: this.#subscribers,
      release: () => {
        held.owner = undefined;
      },
    });
    return held.owner;
  }

  async read(executionId: string, range?: ReadRange): Promise<EventEnvelope[]> {
    return this.#reader.read(executionId, range);
  }

  readSync(executionId: string, range?: ReadRange): EventEnvelope[] {
    return this.#reader.readSync(executionId, range);
  }

  async find(executionId: string): Promise<ExecutionHeader | undefined> {
    return this.#reader.find(executionId);
  }

  async list(filter?: ListFilter): Promise<ExecutionHeader[]> {
    return this.#reader.list(filter);
  }

  subscribe(executionId: string, listener: EventListener, options?: SubscribeOptions): () => void {
    return this.#reader.subscribe(executionId, listener, options);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#subscribers.endAll();
    for (const { owner } of this.#byNumber.values()) await owner?.close();
  }

  #view<T>(partition: number, use: (rows: PartitionRows) => T): T | undefined {
    this.#checkOpen();
    const held = this.#byNumber.get(partition);
    return held && use(held.rows);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw storeClosed("The event store in memory");
  }
}
