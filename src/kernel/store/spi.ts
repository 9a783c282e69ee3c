// The seam between the partition loop and what keeps its log. LMDB and memory stores stand behind it; a replicated
// log will too, so nothing here speaks of transactions, only of batches that are durable as a whole or not at all.
//
// Three words, three moments: *appended* (in the loop's hands), *committed* (visible to readers), *durable* (survives
// what the store's sync level promises). `commit` resolves at durable, and dispatch depends on it.

import type { HeddleError } from "../errors.js";
import type { EventEnvelope, ExecutionEvent } from "../events.js";
import type { MeterRow } from "../meter.js";
import type { FiledStatus } from "../status.js";

/** Why an execution cannot run with the code at hand. Its log stays as it is; see `EXECUTION_SET_ASIDE`. */
export interface SetAside {
  readonly code: string;
  readonly message: string;
}

/**
 * What is known of an execution without reading its log. Written when the status changes, so `sequence` and
 * `updatedAt` are those of the last status change, not of the last event.
 */
export interface ExecutionHeader {
  /** The partition's own number for this execution, given in order of starting. */
  readonly key: number;
  readonly id: string;
  readonly flowId: string;
  readonly flowVersion: string;
  readonly status: FiledStatus;
  readonly sequence: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Present exactly when `status` is "setAside". */
  readonly aside: SetAside | undefined;
}

/** A header that cannot be decoded. Its execution is out of reach, and stops no other. */
export interface UnreadableHeader {
  readonly key: number;
  readonly unreadable: HeddleError;
}

/** All events one actor appended in one pass: the unit of the log. */
export interface LogRecord {
  /** The sequence number of the first event. */
  readonly sequence: number;
  /** Milliseconds since the epoch; the events of one pass share it. */
  readonly timestamp: number;
  readonly events: readonly ExecutionEvent[];
}

export interface TimerRow {
  /** Milliseconds since the epoch. */
  readonly wakeAt: number;
  readonly key: number;
  /** The gate, or the step whose retry is due. */
  readonly gateId: string;
}

/** What one pass changes of one execution. */
export interface ExecutionCommit {
  readonly header: ExecutionHeader;
  /** Set when the pass started the execution: its id becomes known with this commit. */
  readonly created: boolean;
  /** The status under which the stored header is filed now; absent when the header need not be written. */
  readonly refile: { readonly from: FiledStatus | undefined } | undefined;
  /** Absent when nothing was appended (an execution set aside changes its header alone). */
  readonly record: LogRecord | undefined;
  readonly arm: readonly TimerRow[];
  readonly disarm: readonly TimerRow[];
}

export interface CommitBatch {
  readonly executions: readonly ExecutionCommit[];
  /** Totals as they stand with this batch. Each takes the place of the one with its scope, `of` and `perMs`. */
  readonly meters?: readonly MeterRow[];
}

/** Who owns a partition. */
export interface Owner {
  readonly epoch: number;
  readonly pid: number;
  readonly host: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * One partition, opened for writing by its owner. Reads see everything committed before the call. Methods are
 * batched and asynchronous so that a store across a network can answer a whole pass in one trip.
 */
export interface PartitionLog {
  readonly partition: number;
  readonly epoch: number;
  /** One more than the highest key any execution of this partition has. */
  readonly nextKey: number;
  /**
   * Writes the batch whole. Resolves when durable, rejects with STORAGE_FAILED when nothing of it will be seen. An empty
   * batch is a probe: it writes something of the store's own and so tells whether writing works (again).
   */
  commit(batch: CommitBatch): Promise<void>;
  /** The headers of these ids, in order, `undefined` where there is none. One that is unreadable harms no other. */
  lookup(ids: readonly string[]): Promise<(ExecutionHeader | HeddleError | undefined)[]>;
  /** The headers of these keys, in order. */
  headers(keys: readonly number[]): Promise<(ExecutionHeader | HeddleError | undefined)[]>;
  /**
   * The records of each of these executions that hold events from sequence `from` (default 0) on, in order. An
   * unreadable record takes the place of its execution's records and harms no other.
   */
  load(keys: readonly number[], from?: number): Promise<(readonly LogRecord[] | HeddleError)[]>;
  /** Headers filed under `status` with a key over `after`, oldest first. */
  page(status: FiledStatus, after: number, limit: number): Promise<(ExecutionHeader | UnreadableHeader)[]>;
  /** Timers with `wakeAt <= now`, earliest first. */
  timersDue(now: number, limit: number): Promise<TimerRow[]>;
  /** The earliest wakeAt that is later than `after`. */
  nextTimer(after: number): Promise<number | undefined>;
  /** Every total there is, in no order. */
  meters(): Promise<MeterRow[]>;
  close(): Promise<void>;
}

export interface ReadRange {
  /** First sequence, default 0. */
  readonly from?: number;
  /** Last sequence, inclusive; default the end. */
  readonly to?: number;
}

export interface SubscribeOptions {
  /** First sequence to deliver. Default: only what becomes durable from now on. */
  readonly from?: number;
}

export interface ListFilter {
  readonly status?: FiledStatus | readonly FiledStatus[];
  readonly flowId?: string;
  /** At most this many, default 100. */
  readonly limit?: number;
  /** The id of the last execution of the previous page. */
  readonly after?: string;
}

/**
 * The log of a whole application: some partitions, readable by anyone, each written by one owner.
 * Implementations: `LmdbEventStore`, `MemoryEventStore`; prove your own with the conformance suite of `heddle/testing`.
 */
export interface EventStore {
  readonly partitions: number;
  /** Takes ownership of a partition. Throws PARTITION_LOCKED, FORMAT_UNSUPPORTED or STORAGE_FAILED. */
  open(partition: number): Promise<PartitionLog>;
  /** The events of an execution, payloads decoded. Empty for an unknown id. */
  read(executionId: string, range?: ReadRange): Promise<EventEnvelope[]>;
  /** `read` without a promise, for stores that can: surfaces are read synchronously. */
  readSync?(executionId: string, range?: ReadRange): EventEnvelope[];
  find(executionId: string): Promise<ExecutionHeader | undefined>;
  /** Newest first in each partition. */
  list(filter?: ListFilter): Promise<ExecutionHeader[]>;
  /** Calls back for each durable event, in order, once. Returns the end of the subscription. */
  subscribe(
    executionId: string,
    listener: (event: EventEnvelope) => void,
    options?: SubscribeOptions,
  ): () => void;
  close(): Promise<void>;
}

/** A folded state kept to shorten the next fold. Never the truth: the log is. */
export interface Snapshot {
  readonly executionId: string;
  readonly sequence: number;
  readonly state: unknown;
}

export interface SnapshotStore {
  save(snapshot: Snapshot): Promise<void>;
  load(executionId: string): Promise<Snapshot | undefined>;
  delete(executionId: string): Promise<void>;
}
