// The stored forms of a log record and of a header: msgpack arrays that decode alone, format version first. Every store
// keeps these bytes, so that what is read back is the same whichever store it came from.

import { packRecord, unpackRecord, type Wire } from "../codec/index.js";
import { HeddleError } from "../errors.js";
import { eventFromRow, eventToRow } from "../event-row.js";
import { EVENT_SCHEMA_VERSION } from "../events.js";
import type { MeterRow } from "../meter.js";
import type { FiledStatus } from "../status.js";
import type { ExecutionHeader, LogRecord, Snapshot } from "./spi.js";

const HEADER_VERSION = 1;
const SNAPSHOT_VERSION = 3;
const METER_VERSION = 1;

/** `[version, timestamp, row, row, ...]`; the sequence of the first event is the key's business. */
export function recordToWire({ timestamp, events }: LogRecord): Wire {
  // Of its exact length, like the rows in it.
  const stored = Array<unknown>(events.length + 2);
  stored[0] = EVENT_SCHEMA_VERSION;
  stored[1] = timestamp;
  for (let i = 0; i < events.length; i++) stored[i + 2] = eventToRow(events[i]!);
  return stored as Wire[];
}

export function decodeRecord(sequence: number, bytes: Uint8Array): LogRecord {
  return recordFromWire(sequence, unpackRecord(bytes));
}

/** What `recordToWire` made, after it was packed and unpacked. */
export function recordFromWire(sequence: number, wire: unknown): LogRecord {
  const [version, timestamp, ...rows] = listOf("record", wire);
  checkVersion("record", version, EVENT_SCHEMA_VERSION);
  if (typeof timestamp !== "number") throw unreadable("record", "has no timestamp");
  return { sequence, timestamp, events: rows.map(eventFromRow) };
}

/** `[version, id, flowId, flowVersion, sequence, createdAt, updatedAt, code, message]`; the last two only when set aside. */
export function headerToWire(header: ExecutionHeader): Wire {
  const { id, flowId, flowVersion, sequence, createdAt, updatedAt, aside } = header;
  const stored = [HEADER_VERSION, id, flowId, flowVersion, sequence, createdAt, updatedAt];
  if (aside) stored.push(aside.code, aside.message);
  return stored;
}

export function decodeHeader(status: FiledStatus, key: number, bytes: Uint8Array): ExecutionHeader {
  const [version, id, flowId, flowVersion, sequence, createdAt, updatedAt, code, message] = unpackArray(
    "header",
    bytes,
  );
  checkVersion("header", version, HEADER_VERSION);
  if (typeof id !== "string" || typeof flowId !== "string" || typeof flowVersion !== "string") {
    throw unreadable("header", "names no execution and flow");
  }
  if (typeof sequence !== "number" || typeof createdAt !== "number" || typeof updatedAt !== "number") {
    throw unreadable("header", "lacks a position or a time");
  }
  const aside = typeof code === "string" && typeof message === "string" ? { code, message } : undefined;
  return { key, id, flowId, flowVersion, status, sequence, createdAt, updatedAt, aside };
}

/** `[version, sequence, state]`. The state is made of wires, as a folded state is. */
export function encodeSnapshot({ sequence, state }: Snapshot): Uint8Array {
  return packRecord([SNAPSHOT_VERSION, sequence, state as Wire]);
}

/** `undefined` for a snapshot of another version: the log says it all again. */
export function decodeSnapshot(executionId: string, bytes: Uint8Array): Snapshot | undefined {
  const [version, sequence, state] = unpackArray("snapshot", bytes);
  if (version !== SNAPSHOT_VERSION || typeof sequence !== "number") return undefined;
  return { executionId, sequence, state };
}

/** `[version, of, windowStart, calls, tokens, cost, wallMs]`; scope and window length are the key's business. */
export function meterToWire({ of, windowStart, calls, tokens, cost, wallMs }: MeterRow): Wire {
  return [METER_VERSION, of, windowStart, calls, tokens, cost, wallMs];
}

export function decodeMeter(scope: MeterRow["scope"], perMs: number, bytes: Uint8Array): MeterRow {
  const [version, of, ...numbers] = unpackArray("meter", bytes);
  checkVersion("meter", version, METER_VERSION);
  const [windowStart, calls, tokens, cost, wallMs] = numbers.filter((value) => typeof value === "number");
  if (typeof of !== "string" || wallMs === undefined)
    throw unreadable("meter", "lacks its subject or a total");
  return { scope, of, perMs, windowStart: windowStart!, calls: calls!, tokens: tokens!, cost: cost!, wallMs };
}

function unpackArray(what: string, bytes: Uint8Array): unknown[] {
  return listOf(what, unpackRecord(bytes));
}

function listOf(what: string, stored: unknown): unknown[] {
  if (!Array.isArray(stored)) throw unreadable(what, "is not a list");
  return stored;
}

function checkVersion(what: string, version: unknown, known: number): void {
  if (typeof version !== "number" || version < 1) throw unreadable(what, "does not begin with its version");
  if (version > known) {
    throw unreadable(
      what,
      `has version ${version}; this heddle reads up to ${known}. Install the version that wrote it`,
    );
  }
}

function unreadable(what: string, complaint: string): HeddleError {
  return new HeddleError("RECORD_UNREADABLE", `A stored ${what} ${complaint}.`);
}
