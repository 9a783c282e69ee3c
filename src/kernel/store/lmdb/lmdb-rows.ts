// The rows of one partition in LMDB. Every range is walked to its end or closed within the call: no cursor and no read
// transaction of ours outlives a turn.

import type { Database } from "lmdb";
import type { MeterRow } from "../../meter.js";
import type { FiledStatus } from "../../status.js";
import { decodeHeader, decodeMeter, decodeRecord } from "../record.js";
import { type FiledHeader, filedHeader, type PartitionRows } from "../rows.js";
import type { ExecutionHeader, LogRecord, TimerRow } from "../spi.js";
import {
  afterTimers,
  headerKey,
  idKey,
  keyFromBytes,
  keyOfHeader,
  keyOfTimer,
  logKey,
  perMsOfMeter,
  STATUSES,
  scopeOfMeter,
  sequenceOfLog,
  wakeAtOfTimer,
} from "./keys.js";

export type Table = Database<Uint8Array, Uint8Array>;

export const TABLE_NAMES = ["id", "header", "log", "timer", "snapshot", "owner"] as const;
/** Tables that older directories lack: the next owner makes them, and until then a reader does without. */
export const LATER_TABLE_NAMES = ["meter", "content"] as const;
export type Tables = Readonly<
  Record<(typeof TABLE_NAMES)[number], Table> & Partial<Record<(typeof LATER_TABLE_NAMES)[number], Table>>
>;

const KEY_MAX = Number.MAX_SAFE_INTEGER;
const SEQUENCE_MAX = 0xffff_ffff;

export class LmdbRows implements PartitionRows {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** One more than the highest key of any status. */
  nextKey(): number {
    let next = 0;
    for (const status of STATUSES) {
      for (const key of this.#tables.header.getKeys(downFrom(status, KEY_MAX + 1, 1))) {
        next = Math.max(next, keyOfHeader(key) + 1);
      }
    }
    return next;
  }

  keyOf(executionId: string): number | undefined {
    const bytes = this.#tables.id.getBinary(idKey(executionId));
    return bytes && keyFromBytes(bytes);
  }

  header(key: number): ExecutionHeader | undefined {
    for (const status of STATUSES) {
      const bytes = this.#tables.header.getBinary(headerKey(status, key));
      if (bytes) return decodeHeader(status, key, bytes);
    }
    return undefined;
  }

  records(key: number, from: number, limit: number): LogRecord[] {
    const records: LogRecord[] = [];
    const range = {
      start: logKey(key, this.#recordHolding(key, from)),
      end: logKey(key + 1, 0),
      ...atMost(limit),
    };
    for (const { key: at, value } of this.#tables.log.getRange(range)) {
      const record = decodeRecord(sequenceOfLog(at), value);
      if (record.sequence + record.events.length > from) records.push(record);
    }
    return records;
  }

  /** One more than the sequence of its last event. */
  end(key: number): number {
    for (const { sequence, events } of this.records(key, this.#recordHolding(key, SEQUENCE_MAX), 1))
      return sequence + events.length;
    return 0;
  }

  ascending(status: FiledStatus, after: number, limit: number): FiledHeader[] {
    const range = {
      start: headerKey(status, after + 1),
      end: headerKey(status, KEY_MAX),
      inclusiveEnd: true,
      ...atMost(limit),
    };
    return this.#headers(status, range);
  }

  descending(status: FiledStatus, before: number, limit: number): FiledHeader[] {
    return before <= 0 ? [] : this.#headers(status, downFrom(status, Math.min(before, KEY_MAX + 1), limit));
  }

  timersDue(now: number, limit: number): TimerRow[] {
    const due: TimerRow[] = [];
    if (limit <= 0) return due;
    for (const { key: bytes, value } of this.#tables.timer.getRange()) {
      const wakeAt = wakeAtOfTimer(bytes);
      if (wakeAt > now) break;
      due.push({ wakeAt, key: keyOfTimer(bytes), gateId: Buffer.from(value).toString() });
      if (due.length === limit) break;
    }
    return due;
  }

  nextTimer(after: number): number | undefined {
    for (const key of this.#tables.timer.getKeys({ start: afterTimers(after), limit: 1 }))
      return wakeAtOfTimer(key);
    return undefined;
  }

  meters(): MeterRow[] {
    const rows: MeterRow[] = [];
    for (const { key, value } of this.#tables.meter?.getRange() ?? [])
      rows.push(decodeMeter(scopeOfMeter(key), perMsOfMeter(key), value));
    return rows;
  }

  /** Where the record begins that holds this sequence, or would: records are filed under their first. */
  #recordHolding(key: number, sequence: number): number {
    if (sequence <= 0) return 0;
    const start = logKey(key, Math.min(sequence, SEQUENCE_MAX));
    const back = { start, end: logKey(key, 0), inclusiveEnd: true, reverse: true, limit: 1 };
    for (const at of this.#tables.log.getKeys(back)) return sequenceOfLog(at);
    return sequence;
  }

  #headers(status: FiledStatus, range: Parameters<Table["getRange"]>[0]): FiledHeader[] {
    const headers: FiledHeader[] = [];
    for (const { key, value } of this.#tables.header.getRange(range)) {
      const filedAs = keyOfHeader(key);
      headers.push(filedHeader(filedAs, () => decodeHeader(status, filedAs, value)));
    }
    return headers;
  }
}

/** The keys of a status under `before`, highest first. */
function downFrom(status: FiledStatus, before: number, limit: number) {
  return {
    start: headerKey(status, before - 1),
    end: headerKey(status, 0),
    inclusiveEnd: true,
    reverse: true,
    ...atMost(limit),
  };
}

function atMost(limit: number): { limit: number } | undefined {
  return limit === Infinity ? undefined : { limit };
}
