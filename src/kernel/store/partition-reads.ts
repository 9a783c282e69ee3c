// The reading half of a PartitionLog, over whatever holds its rows.

import type { HeddleError } from "../errors.js";
import type { MeterRow } from "../meter.js";
import type { FiledStatus } from "../status.js";
import { type FiledHeader, findHeader, type PartitionRows, readable, withoutHoles } from "./rows.js";
import type { ExecutionHeader, LogRecord, TimerRow } from "./spi.js";

export abstract class PartitionReads {
  /** Runs `use` on the rows as they are now. Throws STORAGE_FAILED when they cannot be read, as when closed. */
  protected abstract view<T>(use: (rows: PartitionRows) => T): T;

  async lookup(ids: readonly string[]): Promise<(ExecutionHeader | HeddleError | undefined)[]> {
    return this.view((rows) => ids.map((id) => readable(() => findHeader(rows, id))));
  }

  async headers(keys: readonly number[]): Promise<(ExecutionHeader | HeddleError | undefined)[]> {
    return this.view((rows) => keys.map((key) => readable(() => rows.header(key))));
  }

  async load(keys: readonly number[], from = 0): Promise<(readonly LogRecord[] | HeddleError)[]> {
    return this.view((rows) =>
      keys.map((key) => readable(() => withoutHoles(rows.records(key, from, Infinity), from))),
    );
  }

  async page(status: FiledStatus, after: number, limit: number): Promise<FiledHeader[]> {
    return this.view((rows) => rows.ascending(status, after, limit));
  }

  async timersDue(now: number, limit: number): Promise<TimerRow[]> {
    return this.view((rows) => rows.timersDue(now, limit));
  }

  async nextTimer(after: number): Promise<number | undefined> {
    return this.view((rows) => rows.nextTimer(after));
  }

  async meters(): Promise<MeterRow[]> {
    return this.view((rows) => rows.meters());
  }
}
