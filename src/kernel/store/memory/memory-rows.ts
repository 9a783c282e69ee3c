// The rows of one partition in memory. Records and headers are kept packed: reading them back decodes the same bytes an
// LMDB partition would hold, so nothing a program does to a value it was given reaches the log.

import { packRecord } from "../../codec/index.js";
import type { MeterRow } from "../../meter.js";
import type { FiledStatus } from "../../status.js";
import {
  decodeHeader,
  decodeMeter,
  decodeRecord,
  headerToWire,
  meterToWire,
  recordToWire,
} from "../record.js";
import { type FiledHeader, filedHeader, type PartitionRows } from "../rows.js";
import type { ExecutionCommit, ExecutionHeader, LogRecord, TimerRow } from "../spi.js";
import { SortedList } from "./sorted-list.js";

interface StoredRecord {
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

interface StoredHeader {
  readonly status: FiledStatus;
  readonly bytes: Uint8Array;
}

interface StoredMeter extends Pick<MeterRow, "scope" | "perMs"> {
  readonly bytes: Uint8Array;
}

export class MemoryRows implements PartitionRows {
  readonly #keys = new Map<string, number>();
  readonly #headers = new Map<number, StoredHeader>();
  readonly #filed = new Map<FiledStatus, SortedList<number>>();
  readonly #logs = new Map<number, SortedList<StoredRecord>>();
  readonly #timers = new SortedList(compareTimers);
  readonly #meters = new Map<string, StoredMeter>();
  #nextKey = 0;

  get nextKey(): number {
    return this.#nextKey;
  }

  /** Packs a commit. The function it returns puts it in place, and cannot fail. */
  prepare({ header, created, refile, record, arm, disarm }: ExecutionCommit): () => void {
    const { key, id, status } = header;
    const stored = record && { sequence: record.sequence, bytes: kept(packRecord(recordToWire(record))) };
    const filed = refile && { status, bytes: kept(packRecord(headerToWire(header))) };
    return () => {
      if (created) this.#keys.set(id, key);
      if (stored) this.#log(key).put(stored);
      if (refile && filed) {
        if (refile.from !== undefined) this.#filedUnder(refile.from).delete(key);
        this.#filedUnder(status).put(key);
        this.#headers.set(key, filed);
        this.#nextKey = Math.max(this.#nextKey, key + 1);
      }
      for (const timer of disarm) this.#timers.delete(timer);
      for (const timer of arm)
        this.#timers.put({ wakeAt: timer.wakeAt, key: timer.key, gateId: timer.gateId });
    };
  }

  /** The same for a total. */
  prepareMeter(row: MeterRow): () => void {
    const { scope, of, perMs } = row;
    const bytes = kept(packRecord(meterToWire(row)));
    return () => void this.#meters.set(`${scope} ${perMs} ${of}`, { scope, perMs, bytes });
  }

  meters(): MeterRow[] {
    return [...this.#meters.values()].map(({ scope, perMs, bytes }) => decodeMeter(scope, perMs, bytes));
  }

  keyOf(executionId: string): number | undefined {
    return this.#keys.get(executionId);
  }

  header(key: number): ExecutionHeader | undefined {
    const stored = this.#headers.get(key);
    return stored && decodeHeader(stored.status, key, stored.bytes);
  }

  records(key: number, from: number, limit: number): LogRecord[] {
    const log = this.#logs.get(key);
    if (!log) return [];
    const { items } = log;
    const at = log.position({ sequence: from, bytes: NO_BYTES });
    const page = items.slice(items[at]?.sequence === from ? at : Math.max(0, at - 1)).slice(0, limit);
    return page
      .map(({ sequence, bytes }) => decodeRecord(sequence, bytes))
      .filter(({ sequence, events }) => sequence + events.length > from);
  }

  ascending(status: FiledStatus, after: number, limit: number): FiledHeader[] {
    const filed = this.#filedUnder(status);
    const start = filed.position(after + 1);
    return filed.items.slice(start, start + limit).map((key) => filedHeader(key, () => this.header(key)!));
  }

  descending(status: FiledStatus, before: number, limit: number): FiledHeader[] {
    const filed = this.#filedUnder(status);
    const end = filed.position(before);
    return filed.items
      .slice(Math.max(0, end - limit), end)
      .reverse()
      .map((key) => filedHeader(key, () => this.header(key)!));
  }

  timersDue(now: number, limit: number): TimerRow[] {
    const due: TimerRow[] = [];
    for (const timer of this.#timers.items) {
      if (timer.wakeAt > now || due.length === limit) break;
      due.push(timer);
    }
    return due;
  }

  nextTimer(after: number): number | undefined {
    const { items } = this.#timers;
    return items[this.#timers.position({ wakeAt: after, key: Infinity, gateId: "" })]?.wakeAt;
  }

  #log(key: number): SortedList<StoredRecord> {
    let log = this.#logs.get(key);
    if (!log) {
      log = new SortedList((a, b) => a.sequence - b.sequence);
      this.#logs.set(key, log);
    }
    return log;
  }

  #filedUnder(status: FiledStatus): SortedList<number> {
    let filed = this.#filed.get(status);
    if (!filed) {
      filed = new SortedList((a, b) => a - b);
      this.#filed.set(status, filed);
    }
    return filed;
  }
}

/** As bytes sort, which is not how strings do. */
function compareTimers(a: TimerRow, b: TimerRow): number {
  return a.wakeAt - b.wakeAt || a.key - b.key || Buffer.compare(Buffer.from(a.gateId), Buffer.from(b.gateId));
}

const NO_BYTES = new Uint8Array();

/** Packed bytes share a block of memory with others; a copy does not keep the block alive. */
function kept(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
