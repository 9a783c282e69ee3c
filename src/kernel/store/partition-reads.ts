// The reading half of a PartitionLog, over whatever holds its rows.

import { HeddleError } from "../errors.js";
import type { FiledStatus } from "../status.js";
import { findHeader, type PartitionRows } from "./rows.js";
import type { ExecutionHeader, LogRecord, TimerRow } from "./spi.js";

export abstract class PartitionReads {
  /** Runs `use` on the rows as they are now. Throws STORAGE_FAILED when they cannot be read, as when closed. */
  protected abstract view<T>(use: (rows: PartitionRows) => T): T;

  async lookup(ids: readonly string[]): Promise<(ExecutionHeader | undefined)[]> {
    return this.view((rows) => ids.map((id) => findHeader(rows, id)));
  }

  async headers(keys: readonly number[]): Promise<(ExecutionHeader | undefined)[]> {
    return this.view((rows) => keys.map((key) => rows.header(key)));
  }

  async load(keys: readonly number[], from = 0): Promise<(readonly LogRecord[] | HeddleError)[]> {
    return this.view((rows) => keys.map((key) => loadOne(rows, key, from)));
  }

  async page(status: FiledStatus, after: number, limit: number): Promise<ExecutionHeader[]> {
    return this.view((rows) => rows.ascending(status, after, limit));
  }

  async timersDue(now: number, limit: number): Promise<TimerRow[]> {
    return this.view((rows) => rows.timersDue(now, limit));
  }

  async nextTimer(after: number): Promise<number | undefined> {
    return this.view((rows) => rows.nextTimer(after));
  }
}

/** One execution that cannot be decoded is its own trouble; a store that cannot be read is everybody's. */
function loadOne(rows: PartitionRows, key: number, from: number): readonly LogRecord[] | HeddleError {
  try {
    return rows.records(key, from, Infinity);
  } catch (error) {
    if (error instanceof HeddleError && error.code === "RECORD_UNREADABLE") return error;
    throw error;
  }
}
