// LmdbEventStore: a directory of partitions, each an LMDB environment with one owner.
//
// Owns       the partitions this object has opened, and the subscribers of this object.
// Leaves     what makes a directory to directory.ts, who may write to ownership.ts, reading to EventReader.
//
// L1  Making the object reads `heddle.json` and writes nothing; the first `open` makes what is missing.
// L2  Reading needs no ownership: any process may read while another writes.
// L3  Subscribers hear of what this object's partitions commit; a reader beside the owner gets the past alone.
// L4  After `close`, nothing of this object is open, and opening the directory again is as good as the first time.

import { resolve } from "node:path";
import { HeddleError } from "../../errors.js";
import type { EventEnvelope } from "../../events.js";
import { partitionOf } from "../../ids.js";
import { storeClosed } from "../commit-failure.js";
import { EventReader } from "../event-reader.js";
import type {
  EventStore,
  ExecutionHeader,
  ListFilter,
  PartitionLog,
  ReadRange,
  SnapshotStore,
  SubscribeOptions,
} from "../spi.js";
import { type EventListener, type ListenerErrorHandler, Subscribers } from "../subscribers.js";
import {
  checkPartitionCount,
  createDirectory,
  createPartition,
  partitionPath,
  readDirectory,
} from "./directory.js";
import { type Environment, openForWriting, viewPath } from "./environment.js";
import { LmdbPartitionLog } from "./lmdb-partition.js";
import { LmdbSnapshotStore } from "./lmdb-snapshot-store.js";
import { OpeningGuard } from "./opening-guard.js";
import { takeEpoch } from "./owner-row.js";
import { acquireOwnership } from "./ownership.js";
import { Writer } from "./writer.js";

export interface LmdbEventStoreOptions {
  readonly dir: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** What a directory made by this store says of its maker: "heddle x.y.z". */
  readonly createdBy: string;
  /** Default: what the directory has, or 1 when it is made. */
  readonly partitions?: number;
  /** What `commit` waits for: "flush" (default) survives a loss of power, "commit" the death of the process. See writer.ts. */
  readonly sync?: "flush" | "commit";
  /** False to open only what is there: no directory is made, and DIRECTORY_UNKNOWN is thrown when there is none. */
  readonly create?: boolean;
  /** Slots for read transactions, of all threads and processes together. Fixed by whoever opens an idle directory first. */
  readonly maxReaders?: number;
  readonly onListenerError?: ListenerErrorHandler;
}

const READERS_MAX = 1024;

export class LmdbEventStore implements EventStore {
  readonly partitions: number;
  readonly snapshots: SnapshotStore;
  readonly #dir: string;
  readonly #options: LmdbEventStoreOptions;
  readonly #subscribers: Subscribers;
  readonly #reader: EventReader;
  readonly #open = new Map<number, LmdbPartitionLog>();
  /** Openings under way, so that closing waits for them too. */
  readonly #opening = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(options: LmdbEventStoreOptions) {
    this.#options = options;
    this.#dir = resolve(options.dir);
    this.partitions = partitionCount(this.#dir, options);
    this.#subscribers = new Subscribers(options.onListenerError);
    this.#reader = new EventReader(
      this.partitions,
      (partition, use) => this.#view(partition, ({ rows }) => use(rows)),
      this.#subscribers,
    );
    this.snapshots = new LmdbSnapshotStore({
      writerOf: (executionId) => this.#writerOf(executionId),
      view: (executionId, use) => this.#view(partitionOf(executionId, this.partitions), use),
    });
  }

  open(partition: number): Promise<PartitionLog> {
    const opening = this.#openPartition(partition);
    this.#opening.add(opening);
    const forget = (): void => void this.#opening.delete(opening);
    opening.then(forget, forget);
    return opening;
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

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #openPartition(partition: number): Promise<LmdbPartitionLog> {
    this.#checkOpen();
    const { now, createdBy, create = true, maxReaders = READERS_MAX } = this.#options;
    if (!Number.isInteger(partition) || partition < 0 || partition >= this.partitions) {
      throw new HeddleError(
        "CONFIG_INVALID",
        `${this.#dir} has no partition ${partition}: it has ${this.partitions}.`,
      );
    }
    const flush = this.#options.sync !== "commit";
    const createdAt = new Date(now()).toISOString();
    const made = create
      ? createDirectory(this.#dir, { partitions: this.partitions, createdBy, createdAt })
      : undefined;
    if (made) checkSameCount(this.#dir, made.partitions, this.partitions);
    const path = createPartition(this.#dir, partition);
    const lock = await acquireOwnership(path, now());
    let writer: Writer | undefined;
    let guard: OpeningGuard | undefined;
    try {
      guard = new OpeningGuard(path);
      writer = new Writer(await openForWriting(path, { flush, maxReaders }, guard), flush, guard);
      const epoch = await takeEpoch(writer, lock.owner);
      const log = new LmdbPartitionLog({ partition, epoch, writer, lock, subscribers: this.#subscribers });
      this.#open.set(partition, log);
      return log;
    } catch (error) {
      await writer?.close();
      guard?.close();
      lock.release();
      throw error;
    }
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#opening);
    this.#subscribers.endAll();
    await Promise.all([...this.#open.values()].map((log) => log.close()));
  }

  #view<T>(partition: number, use: (environment: Environment) => T): T | undefined {
    this.#checkOpen();
    return viewPath(partitionPath(this.#dir, partition), use);
  }

  #writerOf(executionId: string): Writer {
    this.#checkOpen();
    const partition = partitionOf(executionId, this.partitions);
    const writer = this.#open.get(partition)?.writer;
    if (writer && !writer.isClosed) return writer;
    throw new HeddleError(
      "STORAGE_FAILED",
      `Partition ${partition} of ${this.#dir} is not open for writing here. Open it first.`,
    );
  }

  #checkOpen(): void {
    if (this.#closing) throw storeClosed(this.#dir);
  }
}

function partitionCount(directory: string, { partitions, create = true }: LmdbEventStoreOptions): number {
  if (partitions !== undefined) checkPartitionCount(partitions);
  const found = readDirectory(directory);
  if (found) {
    if (partitions !== undefined) checkSameCount(directory, found.partitions, partitions);
    return found.partitions;
  }
  if (create) return partitions ?? 1;
  throw new HeddleError("DIRECTORY_UNKNOWN", `There is no heddle log in ${directory}. Check the path.`, {
    details: { directory },
  });
}

function checkSameCount(directory: string, found: number, wanted: number): void {
  if (found === wanted) return;
  throw new HeddleError(
    "CONFIG_INVALID",
    `${directory} was made with ${found} partitions and is opened with ${wanted}. The number is fixed when a directory ` +
      `is made, because it decides where an id is found: open it with partitions: ${found}, or leave the option out.`,
    { details: { directory, found, wanted } },
  );
}
