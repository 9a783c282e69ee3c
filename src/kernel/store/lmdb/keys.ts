// Keys of the tables of a partition. Part of the format; docs/adr/0001-log-layout.md says why they are what they are.
//
//   id        execution id                     -> key
//   header    status, key                      -> header            one row an execution: also the index of statuses
//   log       key, sequence                    -> record
//   timer     wakeAt, key, gate                -> gate
//   snapshot  execution id                     -> snapshot
//   owner     "owner"                          -> owner
//   meter     scope, window length, of         -> totals            absent in directories from before there were budgets
//
// Numbers are big-endian, so that bytes sort as numbers do. lmdb-js copies a key while `put` runs and keeps only a
// pointer to a value: key buffers are used again and again, value buffers never.

import { createHash } from "node:crypto";
import { HeddleError } from "../../errors.js";
import { ID_BYTES_MAX } from "../../ids.js";
import type { MeterRow } from "../../meter.js";
import type { FiledStatus } from "../../status.js";

/** The number a status is stored under. Never changed or reused. */
const STATUS_CODES: { readonly [S in FiledStatus]: number } = {
  running: 1,
  suspended: 2,
  completed: 3,
  failed: 4,
  cancelled: 5,
  setAside: 6,
};

/** Statuses in the order in which a header is looked for: those of executions one still asks about come first. */
export const STATUSES = Object.keys(STATUS_CODES) as readonly FiledStatus[];

export const OWNER_KEY: Uint8Array = Buffer.from("owner");

const HIGH = 0x1_0000_0000;

export function idKey(id: string): Buffer {
  return Buffer.from(id);
}

/** The stored form of an execution's key: the value of the `id` table. */
export function keyToBytes(key: number): Buffer {
  return writeKey(Buffer.allocUnsafe(8), 0, key);
}

export function keyFromBytes(bytes: Uint8Array): number {
  if (bytes.length !== 8) {
    throw new HeddleError("RECORD_UNREADABLE", `A stored key has ${bytes.length} bytes instead of 8.`);
  }
  return readKey(bytes, 0);
}

/** Writes into `target`, 9 bytes. */
export function writeHeaderKey(target: Buffer, status: FiledStatus, key: number): Buffer {
  target[0] = STATUS_CODES[status];
  return writeKey(target, 1, key);
}

export function headerKey(status: FiledStatus, key: number): Buffer {
  return writeHeaderKey(Buffer.allocUnsafe(9), status, key);
}

export function keyOfHeader(bytes: Uint8Array): number {
  return readKey(bytes, 1);
}

/** Writes into `target`, 12 bytes. */
export function writeLogKey(target: Buffer, key: number, sequence: number): Buffer {
  writeKey(target, 0, key);
  target.writeUInt32BE(sequence, 8);
  return target;
}

export function logKey(key: number, sequence: number): Buffer {
  return writeLogKey(Buffer.allocUnsafe(12), key, sequence);
}

export function sequenceOfLog(bytes: Uint8Array): number {
  return readUint32(bytes, 8);
}

/** A gate is a legal name, or several that the runtime put together. */
export function timerKey(wakeAt: number, key: number, gateId: string): Buffer {
  const name = nameOrDigest(gateId);
  const bytes = Buffer.allocUnsafe(16 + name.length);
  bytes.writeDoubleBE(wakeAt + 0, 0); // The bytes of -0 would sort behind everything.
  writeKey(bytes, 8, key);
  bytes.set(name, 16);
  return bytes;
}

/** The number a scope is stored under. Never changed or reused. */
const SCOPE_CODES = { flow: 1, tenant: 2 } as const;

export function meterKey({ scope, perMs, of }: Pick<MeterRow, "scope" | "perMs" | "of">): Buffer {
  const name = nameOrDigest(of);
  const bytes = Buffer.allocUnsafe(9 + name.length);
  bytes[0] = SCOPE_CODES[scope];
  bytes.writeDoubleBE(perMs, 1);
  bytes.set(name, 9);
  return bytes;
}

export function scopeOfMeter(bytes: Uint8Array): MeterRow["scope"] {
  return bytes[0] === SCOPE_CODES.flow ? "flow" : "tenant";
}

export function perMsOfMeter(bytes: Uint8Array): number {
  return view(bytes).getFloat64(1);
}

/** The bytes of a name; over the limit of names its digest stands for it. */
function nameOrDigest(text: string): Buffer {
  const name = Buffer.from(text);
  return name.length <= ID_BYTES_MAX ? name : createHash("sha256").update(name).digest();
}

/** Greater than the key of any timer that wakes at `wakeAt`, and less than any later one's. */
export function afterTimers(wakeAt: number): Buffer {
  if (wakeAt < 0) return Buffer.alloc(1);
  const bytes = Buffer.alloc(17, 0xff);
  bytes.writeDoubleBE(wakeAt, 0);
  return bytes;
}

export function wakeAtOfTimer(bytes: Uint8Array): number {
  return view(bytes).getFloat64(0);
}

export function keyOfTimer(bytes: Uint8Array): number {
  return readKey(bytes, 8);
}

/** A number of up to 53 bits in 8 bytes. */
export function writeKey(target: Buffer, at: number, key: number): Buffer {
  target.writeUInt32BE(Math.floor(key / HIGH), at);
  target.writeUInt32BE(key >>> 0, at + 4);
  return target;
}

export function readKey(bytes: Uint8Array, at: number): number {
  return readUint32(bytes, at) * HIGH + readUint32(bytes, at + 4);
}

// By hand: every record that is read has a key, and a view of it would be one object more.
function readUint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
