// EventReader: the reading half of an EventStore, over views of its partitions.
//
// Reads go page by page; within a page everything is one synchronous look at one partition, and between pages the event
// loop turns, so neither a long log nor a long list holds up the host, and no view is held while others run.

import { setImmediate as nextTurn } from "node:timers/promises";
import { envelopesOf } from "../envelope.js";
import { HeddleError } from "../errors.js";
import type { EventEnvelope } from "../events.js";
import { partitionOf } from "../ids.js";
import { FILED_STATUSES, type FiledStatus } from "../status.js";
import { type FiledHeader, findHeader, isReadable, type PartitionRows, withoutHoles } from "./rows.js";
import type { ExecutionHeader, ListFilter, LogRecord, ReadRange, SubscribeOptions } from "./spi.js";
import type { EventListener, Subscribers, Subscription } from "./subscribers.js";

/** Runs `use` on a partition's rows as they are now; `undefined` when nothing was ever written to the partition. */
export type ViewPartition = <T>(partition: number, use: (rows: PartitionRows) => T) => T | undefined;

const RECORDS_PER_PAGE = 256;
const HEADERS_PER_PAGE = 256;
const LIST_LIMIT = 100;

export class EventReader {
  readonly #partitions: number;
  readonly #view: ViewPartition;
  readonly #subscribers: Subscribers;

  constructor(partitions: number, view: ViewPartition, subscribers: Subscribers) {
    this.#partitions = partitions;
    this.#view = view;
    this.#subscribers = subscribers;
  }

  async read(executionId: string, { from = 0, to = Infinity }: ReadRange = {}): Promise<EventEnvelope[]> {
    const events: EventEnvelope[] = [];
    let next = this.#readPage(executionId, from, to, events);
    while (next !== undefined) {
      await nextTurn();
      next = this.#readPage(executionId, next, to, events);
    }
    return events;
  }

  readSync(executionId: string, { from = 0, to = Infinity }: ReadRange = {}): EventEnvelope[] {
    const events: EventEnvelope[] = [];
    let next = this.#readPage(executionId, from, to, events);
    while (next !== undefined) next = this.#readPage(executionId, next, to, events);
    return events;
  }

  async find(executionId: string): Promise<ExecutionHeader | undefined> {
    return this.#view(this.#partitionOf(executionId), (rows) => findHeader(rows, executionId));
  }

  async list(filter: ListFilter = {}): Promise<ExecutionHeader[]> {
    const { status = FILED_STATUSES, flowId, limit = LIST_LIMIT, after } = filter;
    const statuses = checkedStatuses(status);
    checkLimit(limit);
    const found: ExecutionHeader[] = [];
    let partition = 0;
    let before = Infinity;
    if (after !== undefined) {
      const last = await this.find(after);
      if (!last) {
        throw new HeddleError(
          "EXECUTION_UNKNOWN",
          `list({ after }) names ${after}, and no execution has this id.`,
        );
      }
      partition = this.#partitionOf(after);
      before = last.key;
    }
    while (partition < this.#partitions && found.length < limit) {
      const wanted =
        flowId === undefined ? Math.min(limit - found.length, HEADERS_PER_PAGE) : HEADERS_PER_PAGE;
      const page = this.#view(partition, (rows) => newestFirst(rows, statuses, before, wanted));
      for (const header of page ?? []) {
        if (!isReadable(header) || found.length >= limit) continue;
        if (flowId === undefined || header.flowId === flowId) found.push(header);
      }
      const oldest = page?.at(-1);
      if (oldest) {
        before = oldest.key;
        if (found.length < limit) await nextTurn();
      } else {
        partition++;
        before = Infinity;
      }
    }
    return found;
  }

  subscribe(executionId: string, listener: EventListener, { from }: SubscribeOptions = {}): () => void {
    const subscription = this.#subscribers.add(executionId, listener, from);
    if (subscription.state === "behind") void this.#catchUp(subscription);
    return () => this.#subscribers.end(subscription);
  }

  /** News of an owner elsewhere: the execution is durable up to this sequence. */
  heard(executionId: string, sequence: number): void {
    for (const subscription of this.#subscribers.of(executionId)) {
      // One that is still reading its past goes on to whatever is there.
      const isLive = subscription.state === "live";
      subscription.upTo = isLive ? sequence : Math.max(subscription.upTo, sequence);
      if (!isLive || subscription.next > sequence) continue;
      this.#subscribers.fallBehind(subscription);
      void this.#catchUp(subscription);
    }
  }

  /**
   * Reads the past up to now. The turn that finds the end of the log also makes the subscription live: what is
   * published later was either read here, and is skipped by its sequence, or was not, and is delivered. (S1)
   */
  async #catchUp(subscription: Subscription): Promise<void> {
    try {
      // Not in the turn of `subscribe`: its caller does not have the way to end it yet.
      await Promise.resolve();
      while (subscription.state === "behind") {
        const { records, next } = this.#recordsFrom(subscription.executionId, subscription.next);
        for (const record of records) {
          if (record.sequence > subscription.upTo) break;
          this.#subscribers.deliver(subscription, record);
        }
        if (next !== undefined && next <= subscription.upTo) await nextTurn();
        else this.#subscribers.goLive(subscription);
      }
    } catch (error) {
      this.#subscribers.end(subscription);
      this.#subscribers.reportError(error, subscription.executionId);
    }
  }

  /** Adds one page of events. Returns where the next begins, if there is one. */
  #readPage(executionId: string, from: number, to: number, events: EventEnvelope[]): number | undefined {
    if (from > to) return undefined;
    const { records, next } = this.#recordsFrom(executionId, from);
    for (const record of records) {
      for (const envelope of envelopesOf(executionId, record)) {
        if (envelope.sequence >= from && envelope.sequence <= to) events.push(envelope);
      }
    }
    return next;
  }

  #recordsFrom(
    executionId: string,
    from: number,
  ): { records: readonly LogRecord[]; next: number | undefined } {
    const records = this.#view(this.#partitionOf(executionId), (rows) => {
      const key = rows.keyOf(executionId);
      return key === undefined ? [] : withoutHoles(rows.records(key, from, RECORDS_PER_PAGE), from);
    });
    const last = records?.at(-1);
    if (!records || !last || records.length < RECORDS_PER_PAGE)
      return { records: records ?? [], next: undefined };
    return { records, next: last.sequence + last.events.length };
  }

  #partitionOf(executionId: string): number {
    return partitionOf(executionId, this.#partitions);
  }
}

/**
 * Up to about `limit` headers of any of these statuses with a key under `before`, newest first; empty only at the end.
 * Each status is a descending list of its own. A list that was cut off says nothing about keys below its last one, so
 * the merged page ends at the highest of those.
 */
function newestFirst(
  rows: PartitionRows,
  statuses: readonly FiledStatus[],
  before: number,
  limit: number,
): FiledHeader[] {
  let floor = -1;
  const merged = statuses.flatMap((status) => {
    const headers = rows.descending(status, before, limit);
    if (headers.length === limit) floor = Math.max(floor, headers.at(-1)!.key);
    return headers;
  });
  return merged.filter(({ key }) => key >= floor).sort((a, b) => b.key - a.key);
}

function checkedStatuses(status: FiledStatus | readonly FiledStatus[]): FiledStatus[] {
  const statuses = Array.isArray(status) ? new Set<FiledStatus>(status) : [status as FiledStatus];
  for (const each of statuses) {
    if (FILED_STATUSES.includes(each)) continue;
    const known = FILED_STATUSES.join(", ");
    throw new HeddleError("INPUT_INVALID", `There is no status ${String(each)}. There are: ${known}.`);
  }
  return [...statuses];
}

function checkLimit(limit: number): void {
  if ((Number.isInteger(limit) && limit >= 0) || limit === Infinity) return;
  throw new HeddleError(
    "INPUT_INVALID",
    `The limit of a list is a whole number of at least 0, not ${String(limit)}.`,
  );
}
