// The check of a record before it is decoded: one pass over the bytes that follows only their framing.
//
// msgpackr guards lengths itself, but it also knows extensions that build classes, compile functions or jump about in
// the bytes, and it nests as deep as the bytes say. None of that is in a record of ours, so none of it gets there.

import { HeddleError } from "../errors.js";
import { SPECIAL_TYPE } from "./special-format.js";

/** Twice what the deepest value takes, whose every level is a `Special`, and some for the record around it. */
const NESTING_MAX = 2500;
const UNDEFINED_TYPE = 0;

/** How many items are still to come on each level. Used from start to end of one call, which calls nothing else. */
const remaining = new Float64Array(NESTING_MAX + 1);

/** Throws RECORD_UNREADABLE unless the bytes are one well-framed item with nothing in it that heddle does not write. */
export function checkRecord(bytes: Uint8Array): void {
  const end = bytes.length;
  let position = 0;
  let level = 0;
  remaining[0] = 1;
  for (;;) {
    while (remaining[level] === 0) {
      if (level === 0) {
        if (position === end) return;
        throw unreadable(bytes, position, "bytes follow after its end");
      }
      level -= 1;
    }
    remaining[level] = (remaining[level] as number) - 1;
    if (position >= end) throw unreadable(bytes, position, "it ends too early");
    const token = bytes[position] as number;
    position += 1;
    // Small integers are complete, and the most frequent.
    if (token < 0x80 || token >= 0xe0) continue;
    const items = itemsAt(token, bytes, position);
    position += bytesAt(token, bytes, position);
    // A length that lies beyond the end reads as not a number, and makes the position not a number.
    if (!(items <= end - position))
      throw unreadable(bytes, end, "a length in it exceeds it, or it is of unknown kind");
    if (items > 0) {
      level += 1;
      if (level > NESTING_MAX)
        throw unreadable(bytes, position, `it is nested deeper than ${NESTING_MAX} levels`);
      remaining[level] = items;
    }
  }
}

/** How many items lie in the item whose token was just read. */
function itemsAt(token: number, bytes: Uint8Array, position: number): number {
  if (token < 0x90) return (token & 0x0f) * 2;
  if (token < 0xa0) return token & 0x0f;
  switch (token) {
    case 0xdc: // array 16
      return uint16(bytes, position);
    case 0xdd: // array 32
      return uint32(bytes, position);
    case 0xde: // map 16
      return uint16(bytes, position) * 2;
    case 0xdf: // map 32
      return uint32(bytes, position) * 2;
    case 0xd4: // fixext 1: msgpackr has the parts of a `Special` follow its header
      return bytes[position] === SPECIAL_TYPE ? 1 : 0;
    default:
      return 0;
  }
}

/** How many bytes the item takes after its token, not counting the items in it. Not a number for kinds not ours. */
function bytesAt(token: number, bytes: Uint8Array, position: number): number {
  if (token < 0xa0) return 0;
  if (token < 0xc0) return token & 0x1f;
  switch (token) {
    case 0xc0: // nil
    case 0xc2: // false
    case 0xc3: // true
      return 0;
    case 0xcc: // uint 8
    case 0xd0: // int 8
      return 1;
    case 0xcd: // uint 16
    case 0xd1: // int 16
    case 0xdc: // array 16
    case 0xde: // map 16
      return 2;
    case 0xce: // uint 32
    case 0xd2: // int 32
    case 0xca: // float 32
    case 0xdd: // array 32
    case 0xdf: // map 32
      return 4;
    case 0xcf: // uint 64
    case 0xd3: // int 64
    case 0xcb: // float 64
      return 8;
    case 0xd9: // str 8
    case 0xc4: // bin 8
      return 1 + (bytes[position] ?? Number.NaN);
    case 0xda: // str 16
    case 0xc5: // bin 16
      return 2 + uint16(bytes, position);
    case 0xdb: // str 32
    case 0xc6: // bin 32
      return 4 + uint32(bytes, position);
    case 0xd4: // fixext 1
      return bytes[position] === SPECIAL_TYPE || bytes[position] === UNDEFINED_TYPE ? 2 : Number.NaN;
    default:
      return Number.NaN;
  }
}

function uint16(bytes: Uint8Array, position: number): number {
  return (bytes[position] as number) * 0x100 + (bytes[position + 1] as number);
}

function uint32(bytes: Uint8Array, position: number): number {
  return uint16(bytes, position) * 0x10000 + uint16(bytes, position + 2);
}

function unreadable(bytes: Uint8Array, position: number, reason: string): HeddleError {
  return new HeddleError(
    "RECORD_UNREADABLE",
    `A record of ${bytes.length} bytes cannot be decoded: at byte ${position} ${reason}. ` +
      "The log may be damaged, or was written by a newer heddle.",
    { details: { bytes: bytes.length, position } },
  );
}
