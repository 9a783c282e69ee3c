// What one partition holds, as plain synchronous look-ups: the little that differs between stores. Everything a program
// or a partition loop reads is put together from these, once, in `partition-reads.ts` and `event-reader.ts`.

import type { FiledStatus } from "../status.js";
import type { ExecutionHeader, LogRecord, TimerRow } from "./spi.js";

/** A view of one partition. It is used within one turn and not kept: a store may close what is behind it afterwards. */
export interface PartitionRows {
  keyOf(executionId: string): number | undefined;
  header(key: number): ExecutionHeader | undefined;
  /** The records that hold events from sequence `from` on, in order, at most `limit`. */
  records(key: number, from: number, limit: number): LogRecord[];
  /** Headers filed under `status` with a key over `after`, oldest first. */
  ascending(status: FiledStatus, after: number, limit: number): ExecutionHeader[];
  /** Headers filed under `status` with a key under `before`, newest first. */
  descending(status: FiledStatus, before: number, limit: number): ExecutionHeader[];
  timersDue(now: number, limit: number): TimerRow[];
  /** The earliest wakeAt later than `after`. */
  nextTimer(after: number): number | undefined;
}

export function findHeader(rows: PartitionRows, executionId: string): ExecutionHeader | undefined {
  const key = rows.keyOf(executionId);
  return key === undefined ? undefined : rows.header(key);
}
