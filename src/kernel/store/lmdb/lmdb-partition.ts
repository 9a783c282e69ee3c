// LmdbPartitionLog: the owner's hold on one partition.
//
// Owns       the lock of the partition, for as long as it is open.
// Leaves     order, durability and failure of writes to writer.ts, bytes to record.ts and keys.ts.
//
// P1  A batch is written whole or not at all; `commit` resolves when it is durable (writer.ts).
// P2  Subscribers hear of a batch after it is durable and before `commit` resolves.
// P3  After a failed commit nothing more is taken until an empty one, the probe, which writes the owner's row again.

import { checkBatch } from "../batch-check.js";
import { storeClosed } from "../commit-failure.js";
import { PartitionReads } from "../partition-reads.js";
import { headerToWire, meterToWire, recordToWire } from "../record.js";
import type { PartitionRows } from "../rows.js";
import type { CommitBatch, PartitionLog } from "../spi.js";
import type { Subscribers } from "../subscribers.js";
import { viewEnvironment } from "./environment.js";
import { valueInPlace } from "./in-place.js";
import { idKey, keyToBytes, meterKey, timerKey, writeHeaderKey, writeLogKey } from "./keys.js";
import type { Tables } from "./lmdb-rows.js";
import { putOwner } from "./owner-row.js";
import type { OwnershipLock } from "./ownership.js";
import type { PartitionContent } from "./partition-content.js";
import type { Writer } from "./writer.js";

export interface LmdbPartitionOptions {
  readonly partition: number;
  readonly epoch: number;
  readonly writer: Writer;
  readonly lock: OwnershipLock;
  readonly content: PartitionContent;
  readonly subscribers: Subscribers;
}

export class LmdbPartitionLog extends PartitionReads implements PartitionLog {
  readonly partition: number;
  readonly epoch: number;
  readonly nextKey: number;
  readonly writer: Writer;
  readonly content: PartitionContent;
  readonly #lock: OwnershipLock;
  readonly #subscribers: Subscribers;
  #closing: Promise<void> | undefined;

  constructor({ partition, epoch, writer, lock, content, subscribers }: LmdbPartitionOptions) {
    super();
    this.partition = partition;
    this.epoch = epoch;
    this.writer = writer;
    this.content = content;
    this.#lock = lock;
    this.#subscribers = subscribers;
    this.nextKey = viewEnvironment(writer.environment, ({ rows }) => rows.nextKey());
  }

  async commit(batch: CommitBatch): Promise<void> {
    if (batch.executions.length === 0)
      return this.writer.probe(() => putOwner(this.writer, this.epoch, this.#lock.owner)); // P3
    this.#check(batch);
    const { tables } = this.writer.environment;
    await this.writer.write(() => putAll(tables, this.content, batch)); // P1
    this.#subscribers.publish(batch.executions); // P2
  }

  close(): Promise<void> {
    this.#closing ??= this.writer.close().finally(() => this.#lock.release());
    return this.#closing;
  }

  protected view<T>(use: (rows: PartitionRows) => T): T {
    if (this.writer.isClosed) throw storeClosed(this.writer.path);
    return viewEnvironment(this.writer.environment, ({ rows }) => use(rows));
  }

  #check(batch: CommitBatch): void {
    try {
      checkBatch(batch);
    } catch (error) {
      this.writer.poison(error); // P3
      throw error;
    }
  }
}

// Keys are copied while `put` runs: two buffers serve all rows of all batches.
const headerKeyBytes = Buffer.alloc(9);
const logKeyBytes = Buffer.alloc(12);

/** The hottest loop of all: no closure, no promise and no object an execution beyond what its bytes need. */
function putAll(
  { id: ids, header: headers, log, timer: timers, meter }: Tables,
  content: PartitionContent,
  { executions, meters }: CommitBatch,
): void {
  for (let i = 0; i < executions.length; i++) {
    const { header, created, refile, record, arm, disarm } = executions[i]!;
    const { key, id, status } = header;
    if (created) void ids.put(idKey(id), keyToBytes(key));
    if (record) {
      void log.put(writeLogKey(logKeyBytes, key, record.sequence), valueInPlace(recordToWire(record)));
      content.cite(key, record.events);
    }
    if (refile) {
      const { from } = refile;
      if (from !== undefined && from !== status)
        void headers.remove(writeHeaderKey(headerKeyBytes, from, key));
      void headers.put(writeHeaderKey(headerKeyBytes, status, key), valueInPlace(headerToWire(header)));
    }
    for (let j = 0; j < disarm.length; j++) {
      const timer = disarm[j]!;
      void timers.remove(timerKey(timer.wakeAt, timer.key, timer.gateId));
    }
    for (let j = 0; j < arm.length; j++) {
      const timer = arm[j]!;
      void timers.put(timerKey(timer.wakeAt, timer.key, timer.gateId), Buffer.from(timer.gateId));
    }
  }
  if (!meters) return;
  for (const row of meters) void meter?.put(meterKey(row), valueInPlace(meterToWire(row)));
}
