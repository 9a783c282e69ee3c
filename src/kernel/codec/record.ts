// Records: wires as bytes. Bytes are the contract, so every record decodes alone and by these settings for ever.
//
// Owns       one packer.
// Leaves     meaning to special.ts, framing (format version, batch) to the store.
//
// R1  A record refers to nothing outside itself: no shared structures, no record extension, no bundled strings.
// R2  Any bytes at all decode to a wire or throw RECORD_UNREADABLE, in time and memory linear in their number.
// R3  Decoded bytes lie in memory of their own, never in a page of the database.

import { addExtension, Packr, REUSE_BUFFER_MODE } from "msgpackr";
import { HeddleError } from "../errors.js";
import { checkRecord } from "./check-record.js";
import { Special, type Wire } from "./special.js";
import { SPECIAL_TYPE, specialFrom } from "./special-format.js";

addExtension({ Class: Special, type: SPECIAL_TYPE, write: ({ parts }: Special) => parts, read: specialFrom });

const reader = { type: SPECIAL_TYPE, read: specialFrom };

const packer = new Packr({
  useRecords: false,
  bundleStrings: false,
  structuredClone: false,
  moreTypes: false,
  // Without it objects are limited to 65,535 keys, and take two bytes more each.
  variableMapSize: true,
  // A plain object that has a key `toJSON` is data like any other.
  useToJSON: false,
  copyBuffers: true,
  // A 64-bit integer is a bigint only where a number would not be exact. (The option's type has not heard of it.)
  int64AsType: "auto" as "bigint",
  encodeUndefinedAsNil: false,
});

/** From this size on, a record gets its block of memory to itself. */
const LARGE_BYTES = 64 * 1024;
const BLOCK_BYTES = 8 * 1024;

/** A record where the packer put it: from `start` to `end` of a block of memory, which begins at its own offset 0. */
export interface PackedInPlace extends Uint8Array {
  readonly start: number;
  readonly end: number;
}

/**
 * Packs a record without making a view of its bytes. `start` and `end` are those of this record until the next is
 * packed; the bytes are never written again.
 */
export function packInPlace(body: Wire): PackedInPlace {
  const block = packer.pack(body, REUSE_BUFFER_MODE) as Buffer & PackedInPlace;
  // The packer would go on in the block that it made for this record, several times as large, and every small record
  // in it would keep all of it alive.
  if (block.end - block.start > LARGE_BYTES) packer.useBuffer(Buffer.allocUnsafeSlow(BLOCK_BYTES));
  return block;
}

/** The bytes of a record. They may share a block of memory with other small records, and are never written again. */
export function packRecord(body: Wire): Uint8Array {
  const block = packInPlace(body);
  return block.subarray(block.start, block.end);
}

export function unpackRecord(bytes: Uint8Array): Wire {
  checkRecord(bytes);
  // msgpackr has one table of extensions for the whole process. Should the application have claimed our type for a
  // class of its own, its data suffers; the log must not. (A store in one field: this costs next to nothing.)
  addExtension(reader);
  try {
    return packer.unpack(bytes) as Wire;
  } catch (error) {
    throw new HeddleError(
      "RECORD_UNREADABLE",
      `A record of ${bytes.length} bytes cannot be decoded: ${error instanceof Error ? error.message : "unknown"}. ` +
        "The log may be damaged, or was written by a newer heddle.",
      { cause: error, details: { bytes: bytes.length } },
    );
  }
}
