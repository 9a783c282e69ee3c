// What one partition holds, as plain synchronous look-ups: the little that differs between stores. Everything a program
// or a partition loop reads is put together from these, once, in `partition-reads.ts` and `event-reader.ts`.

import { HeddleError } from "../errors.js";
import type { MeterRow } from "../meter.js";
import type { FiledStatus } from "../status.js";
import type { ExecutionHeader, LogRecord, TimerRow, UnreadableHeader } from "./spi.js";

export type FiledHeader = ExecutionHeader | UnreadableHeader;

/** A view of one partition. It is used within one turn and not kept: a store may close what is behind it afterwards. */
export interface PartitionRows {
  keyOf(executionId: string): number | undefined;
  /** Throws RECORD_UNREADABLE, as `records` does. */
  header(key: number): ExecutionHeader | undefined;
  /** The records that hold events from sequence `from` on, in order, at most `limit`. */
  records(key: number, from: number, limit: number): LogRecord[];
  /** Headers filed under `status` with a key over `after`, oldest first. */
  ascending(status: FiledStatus, after: number, limit: number): FiledHeader[];
  /** Headers filed under `status` with a key under `before`, newest first. */
  descending(status: FiledStatus, before: number, limit: number): FiledHeader[];
  timersDue(now: number, limit: number): TimerRow[];
  /** The earliest wakeAt later than `after`. */
  nextTimer(after: number): number | undefined;
  meters(): MeterRow[];
}

export function findHeader(rows: PartitionRows, executionId: string): ExecutionHeader | undefined {
  const key = rows.keyOf(executionId);
  return key === undefined ? undefined : rows.header(key);
}

export function isReadable(header: FiledHeader): header is ExecutionHeader {
  return !("unreadable" in header);
}

/** The records as they are, which must follow each other from `from` on: what follows a hole is no part of the same story. */
export function withoutHoles(records: LogRecord[], from: number): LogRecord[] {
  let next = from;
  for (const { sequence, events } of records) {
    if (sequence > next) {
      throw new HeddleError(
        "RECORD_UNREADABLE",
        `A log lacks its events ${next} to ${sequence - 1}. It is damaged: restore the directory from a copy.`,
        { details: { from: next, to: sequence - 1 } },
      );
    }
    next = sequence + events.length;
  }
  return records;
}

/** What `read` gives, or why it cannot be decoded; a store that cannot be read at all is everybody's trouble. */
export function readable<T>(read: () => T): T | HeddleError {
  try {
    return read();
  } catch (error) {
    if (error instanceof HeddleError && error.code === "RECORD_UNREADABLE") return error;
    throw error;
  }
}

/** A header of a list, in which one that cannot be decoded keeps its place. */
export function filedHeader(key: number, decode: () => ExecutionHeader): FiledHeader {
  const header = readable(decode);
  return header instanceof HeddleError ? { key, unreadable: header } : header;
}
