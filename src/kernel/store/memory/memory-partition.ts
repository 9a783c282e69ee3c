// MemoryPartitionLog: the owner's hold on one partition of a MemoryEventStore.
//
// M1  A batch is applied whole, in the turn of the call, or not at all.
// M2  After a failed commit nothing more is taken until an empty one, the probe.

import { checkBatch } from "../batch-check.js";
import { refusedAfter, storeClosed } from "../commit-failure.js";
import { PartitionReads } from "../partition-reads.js";
import type { PartitionRows } from "../rows.js";
import type { CommitBatch, PartitionLog } from "../spi.js";
import type { Subscribers } from "../subscribers.js";
import type { MemoryContentStore } from "./memory-content-store.js";
import type { MemoryRows } from "./memory-rows.js";

export interface MemoryPartitionOptions {
  readonly partition: number;
  readonly epoch: number;
  readonly rows: MemoryRows;
  readonly content: MemoryContentStore | undefined;
  readonly subscribers: Subscribers;
  readonly release: () => void;
}

export class MemoryPartitionLog extends PartitionReads implements PartitionLog {
  readonly partition: number;
  readonly epoch: number;
  readonly nextKey: number;
  readonly #rows: MemoryRows;
  readonly #content: MemoryContentStore | undefined;
  readonly #subscribers: Subscribers;
  readonly #release: () => void;
  #failure: unknown;
  #isClosed = false;

  constructor({ partition, epoch, rows, content, subscribers, release }: MemoryPartitionOptions) {
    super();
    this.partition = partition;
    this.epoch = epoch;
    this.nextKey = rows.nextKey;
    this.#rows = rows;
    this.#content = content;
    this.#subscribers = subscribers;
    this.#release = release;
  }

  async commit(batch: CommitBatch): Promise<void> {
    this.#checkOpen();
    if (batch.executions.length === 0) this.#failure = undefined;
    if (this.#failure !== undefined) throw refusedAfter(this.#failure, this.#name()); // M2
    try {
      checkBatch(batch);
      const changes = [
        ...batch.executions.map((commit) => this.#rows.prepare(commit)),
        ...(batch.meters ?? []).map((row) => this.#rows.prepareMeter(row)),
      ];
      for (const apply of changes) apply(); // M1
      for (const { header, record } of batch.executions)
        if (record) this.#content?.cite(header.id, record.events);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
    // Listeners run after the caller's turn, as they do behind a store that waits for a disk.
    await Promise.resolve();
    this.#subscribers.publish(batch.executions);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#release();
  }

  protected view<T>(use: (rows: PartitionRows) => T): T {
    this.#checkOpen();
    return use(this.#rows);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw storeClosed(this.#name());
  }

  #name(): string {
    return `Partition ${this.partition} in memory`;
  }
}
