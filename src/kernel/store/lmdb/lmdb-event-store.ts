// LmdbEventStore: a directory of partitions, each an LMDB environment with one owner.
//
// Owns       the partitions this object has opened, and the subscribers of this object.
// Leaves     what makes a directory to directory.ts, who may write to ownership.ts, reading to EventReader.
//
// L1  Making the object reads `heddle.json` and writes nothing; the first `open` makes what is missing.
// L2  Reading needs no ownership: any process may read while another writes.
// L3  Subscribers hear of what this object's partitions commit; a reader beside the owner gets the past alone.
// L4  A store whose partitions are owned by other threads of its process (`follow`) reads what they commit at once, and its
//     subscribers are served from the log whenever an owner says how far an execution is durable.
// L5  Content lies beside the logs, in the same environments, and has the same owners and readers.
// L6  After `close`, nothing of this object is open, and opening the directory again is as good as the first time.

import { resolve } from "node:path";
import { HeddleError } from "../../errors.js";
import type { EventEnvelope } from "../../events.js";
import { partitionOf } from "../../ids.js";
import { storeClosed } from "../commit-failure.js";
import type { ContentStore } from "../content/content-store.js";
import { EventReader } from "../event-reader.js";
import type { PartitionReads } from "../partition-reads.js";
import type {
  EventStore,
  ExecutionHeader,
  ListFilter,
  PartitionLog,
  ReadRange,
  SnapshotStore,
  SubscribeOptions,
} from "../spi.js";
import {
  type EventListener,
  type ListenerErrorHandler,
  type NewsSource,
  Subscribers,
} from "../subscribers.js";
import { ContentRows } from "./content-rows.js";
import {
  checkPartitionCount,
  createDirectory,
  createPartition,
  partitionPath,
  readDirectory,
} from "./directory.js";
import { type Environment, keepOpen, letGo, openForWriting, viewPath } from "./environment.js";
import { LmdbContentStore } from "./lmdb-content-store.js";
import { LmdbPartitionLog } from "./lmdb-partition.js";
import { LmdbReads } from "./lmdb-reads.js";
import { LmdbSnapshotStore } from "./lmdb-snapshot-store.js";
import { OpeningGuard } from "./opening-guard.js";
import { takeEpoch } from "./owner-row.js";
import { acquireOwnership } from "./ownership.js";
import { type ContentUse, PartitionContent } from "./partition-content.js";
import { Writer } from "./writer.js";

export interface LmdbEventStoreOptions {
  readonly dir: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** What a directory made by this store says of its maker: "heddle x.y.z". */
  readonly createdBy: string;
  /** Default: what the directory has, or `newPartitions` when it is made. */
  readonly partitions?: number;
  /** How many partitions a directory gets that is made without a word about it. Default 1. */
  readonly newPartitions?: number;
  /** What `commit` waits for: "flush" (default) survives a loss of power, "commit" the death of the process. See writer.ts. */
  readonly sync?: "flush" | "commit";
  /** False to open only what is there: no directory is made, and DIRECTORY_UNKNOWN is thrown when there is none. */
  readonly create?: boolean;
  /** Slots for read transactions, of all threads and processes together. Fixed by whoever opens an idle directory first. */
  readonly maxReaders?: number;
  /** True in a thread that may be terminated from outside: commits then take longer, and an end cannot make others hang. */
  readonly interruptible?: boolean;
  readonly onListenerError?: ListenerErrorHandler;
  /** True when effects put content: logs then cite it from the first commit on. Default: once there is any. */
  readonly citesContent?: boolean;
}

const READERS_MAX = 1024;

/** What the owners elsewhere are doing, told by whoever knows them. */
export interface Following {
  /** The partition is open for writing in another thread of this process: it is kept open for reading here. */
  ownerOpened(partition: number): void;
  /** Before its next owner opens it. */
  ownerEnded(partition: number): void;
  /** The execution is durable up to this sequence. */
  durable(executionId: string, sequence: number): void;
}

export class LmdbEventStore implements EventStore {
  readonly partitions: number;
  readonly snapshots: SnapshotStore;
  readonly content: ContentStore;
  readonly #contentUse: ContentUse;
  readonly #dir: string;
  readonly #options: LmdbEventStoreOptions;
  readonly #subscribers: Subscribers;
  readonly #reader: EventReader;
  readonly #open = new Map<number, LmdbPartitionLog>();
  /** Openings under way, so that closing waits for them too. */
  readonly #opening = new Set<Promise<unknown>>();
  /** Partitions of other threads, kept open for reading. */
  readonly #kept = new Set<number>();
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
    this.#contentUse = { isInUse: options.citesContent === true };
    this.content = new LmdbContentStore({
      count: this.partitions,
      now: options.now,
      view: (partition, use) => this.#viewContent(partition, use),
      writable: (partition) => this.#writable(partition ?? firstOf(this.#open)).content,
    });
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

  /** Whether there is content in any partition now, whoever owns it. */
  get hasContent(): boolean {
    return Array.from({ length: this.partitions }, (_, partition) => partition).some((partition) =>
      this.#viewContent(partition, (rows) => !rows.isEmpty),
    );
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
    const isFollowing = this.#subscribers.source !== undefined && !this.#closing;
    const from = options?.from ?? (isFollowing ? this.#end(executionId) : undefined);
    return this.#reader.subscribe(executionId, listener, from === undefined ? undefined : { from });
  }

  /** The reading half of a partition's log, whoever owns it. */
  reads(partition: number): PartitionReads {
    return new LmdbReads(
      (use) => this.#view(partition, ({ rows }) => use(rows)),
      partitionPath(this.#dir, partition),
    );
  }

  /** Makes this store one whose partitions are owned by other threads of its process. (L4) */
  follow(news: NewsSource): Following {
    this.#subscribers.source = news;
    const pathOf = (partition: number): string => partitionPath(this.#dir, partition);
    return {
      ownerOpened: (partition) => {
        if (this.#closing) return;
        this.#kept.add(partition);
        keepOpen(pathOf(partition));
      },
      ownerEnded: (partition) => {
        if (this.#kept.delete(partition)) letGo(pathOf(partition));
      },
      durable: (executionId, sequence) => this.#reader.heard(executionId, sequence),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #openPartition(partition: number): Promise<LmdbPartitionLog> {
    this.#checkOpen();
    const { now, createdBy, create = true, maxReaders = READERS_MAX, interruptible = false } = this.#options;
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
      writer = new Writer(
        await openForWriting(path, { flush, maxReaders, interruptible }, guard),
        flush,
        guard,
      );
      const epoch = await takeEpoch(writer, lock.owner);
      const content = new PartitionContent(writer, this.#contentUse, now);
      await content.dropStaged();
      const subscribers = this.#subscribers;
      const log = new LmdbPartitionLog({ partition, epoch, writer, lock, content, subscribers });
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
    for (const partition of this.#kept) letGo(partitionPath(this.#dir, partition));
    await Promise.all([...this.#open.values()].map((log) => log.close()));
  }

  /** One more than the sequence of the last event. */
  #end(executionId: string): number {
    const end = this.#view(partitionOf(executionId, this.partitions), ({ rows }) => {
      const key = rows.keyOf(executionId);
      return key === undefined ? 0 : rows.end(key);
    });
    return end ?? 0;
  }

  #view<T>(partition: number, use: (environment: Environment) => T): T | undefined {
    this.#checkOpen();
    return viewPath(partitionPath(this.#dir, partition), use);
  }

  #viewContent<T>(partition: number, use: (rows: ContentRows) => T): T | undefined {
    return this.#view(partition, ({ tables: { content } }) => content && use(new ContentRows(content)));
  }

  #writerOf(executionId: string): Writer {
    return this.#writable(partitionOf(executionId, this.partitions)).writer;
  }

  #writable(partition: number): LmdbPartitionLog {
    this.#checkOpen();
    const log = this.#open.get(partition);
    if (log && !log.writer.isClosed) return log;
    throw new HeddleError(
      "STORAGE_FAILED",
      `Partition ${partition} of ${this.#dir} is not open for writing here. Open it first.`,
    );
  }

  #checkOpen(): void {
    if (this.#closing) throw storeClosed(this.#dir);
  }
}

/** The lowest of the partitions that are open, or else of all. */
function firstOf(open: ReadonlyMap<number, unknown>): number {
  return Math.min(...open.keys(), open.size > 0 ? Infinity : 0);
}

function partitionCount(
  directory: string,
  { partitions, newPartitions = 1, create = true }: LmdbEventStoreOptions,
): number {
  if (partitions !== undefined) checkPartitionCount(partitions);
  const found = readDirectory(directory);
  if (found) {
    if (partitions !== undefined) checkSameCount(directory, found.partitions, partitions);
    return found.partitions;
  }
  if (create) return partitions ?? newPartitions;
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
