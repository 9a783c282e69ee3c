// Ids and names: their one limit, their stable hash, and new execution ids.
//
// Every name a user gives (execution, step, gate, correlation key, decision, event, surface) has the same limit, counted
// in UTF-8 bytes, so that any of them can be a key of the store and the rule needs no table to remember.

import { HeddleError } from "./errors.js";

/** The limit of every id and name, in UTF-8 bytes. LMDB keys end at 1,978; the rest is room for our own prefixes. */
export const ID_BYTES_MAX = 1024;

/** Refuses an id that is not a string, is empty, is over the limit, or could not be told apart once stored. */
export function checkId(field: string, value: unknown): asserts value is string {
  if (typeof value !== "string")
    throw invalid(field, `must be a string, not ${value === null ? "null" : typeof value}`);
  if (value.length === 0) throw invalid(field, "must not be empty");
  // A UTF-16 unit takes at most three bytes, so short ids need no counting.
  if (value.length * 3 > ID_BYTES_MAX) {
    const bytes = Buffer.byteLength(value);
    if (bytes > ID_BYTES_MAX) {
      throw invalid(field, `is ${bytes} bytes long in UTF-8; the limit is ${ID_BYTES_MAX}`, { bytes });
    }
  }
  if (value === "__proto__" || !value.isWellFormed() || value.includes("\0")) {
    throw invalid(field, "must be well-formed text without NUL, and not __proto__");
  }
}

function invalid(field: string, complaint: string, details: Record<string, unknown> = {}): HeddleError {
  return new HeddleError("ID_INVALID", `${field} ${complaint}.`, {
    details: { field, limitBytes: ID_BYTES_MAX, ...details },
  });
}

/** FNV-1a over the UTF-16 units of a text: 32 bits, as a whole number. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** The partition of an execution, by its id's hash. Part of the format: it never changes. */
export function partitionOf(executionId: string, partitions: number): number {
  return partitions === 1 ? 0 : fnv1a(executionId) % partitions;
}

/**
 * What every attempt at one issue of a step is told, so that whoever it calls can drop duplicates.
 *
 * @param issue 1 for the first; a step that is issued again after a failure is another request to the world
 */
export function idempotencyKeyOf(executionId: string, stepId: string, issue: number): string {
  const key = `${executionId}/${stepId}`;
  return issue === 1 ? key : `${key}#${issue}`;
}

/** A source of randomness: fills the array and returns it, as `crypto.getRandomValues` does. */
export type FillRandom = (bytes: Uint8Array) => Uint8Array;

/**
 * A source of new execution ids: UUID version 7 (RFC 9562), monotonic within one millisecond. Their order in time keeps
 * the id index append-only, which random ids would scatter over all its pages (docs/adr/0001-log-layout.md).
 */
export function createIdSource(now: () => number, fillRandom: FillRandom): () => string {
  const pool = new Uint8Array(8 * 256);
  const text = [...Buffer.from("xxxxxxxx-xxxx-7ccc-vrrr-rrrrrrrrrrrr")];
  let used = pool.length;
  let millisecond = 0;
  let counter = 0;
  const advance = (to: number): void => {
    millisecond = to;
    counter = 0;
    const high = Math.floor(to / 0x10000);
    writeHex(text, 0, high >>> 24);
    writeHex(text, 2, high >>> 16);
    writeHex(text, 4, high >>> 8);
    writeHex(text, 6, high);
    writeHex(text, 9, to >>> 8);
    writeHex(text, 11, to);
  };
  advance(0);
  return () => {
    const time = Math.floor(now()); // a host's clock may give fractions
    if (time > millisecond) advance(time);
    // More than 4,096 ids in a millisecond, or a clock set back: run ahead of it rather than repeat.
    else if (++counter > 0xfff) advance(millisecond + 1);
    if (used === pool.length) {
      fillRandom(pool);
      used = 0;
    }
    // 48 bits of time, version and counter, variant and 62 random bits.
    writeHex(text, 14, 0x70 | (counter >>> 8));
    writeHex(text, 16, counter);
    writeHex(text, 19, (pool[used]! & 0x3f) | 0x80);
    writeHex(text, 21, pool[used + 1]!);
    for (let i = 2; i < 8; i++) writeHex(text, 20 + 2 * i, pool[used + i]!);
    used += 8;
    return String.fromCharCode(...text); // half the time of a buffer's toString
  };
}

const DIGITS = Buffer.from("0123456789abcdef");

/** The lowest byte of a number, as two digits. */
function writeHex(text: number[], offset: number, byte: number): void {
  text[offset] = DIGITS[(byte >>> 4) & 0xf]!;
  text[offset + 1] = DIGITS[byte & 0xf]!;
}
