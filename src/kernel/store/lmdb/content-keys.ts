// Keys of the `content` table of a partition, one kind of row a leading byte. Part of the format (ADR 0010).
//
//   1  hash               -> what it is: size, where its chunks are, when it was last put
//   2  upload, index      -> a chunk
//   3  upload             -> chunks that are in nobody's use: an upload under way, or content being removed
//   4  hash, key          -> the execution of this key cites it; whether it holds on to it
//
// Numbers are big-endian, as in keys.ts.

import { packRecord, unpackRecord } from "../../codec/index.js";
import { HeddleError } from "../../errors.js";
import { readKey, writeKey } from "./keys.js";

const HASH_BYTES = 32;
const CONTENT_VERSION = 1;
const KIND = { content: 1, chunk: 2, staged: 3, citation: 4 } as const;

export interface ContentRow {
  readonly size: number;
  readonly upload: number;
  readonly chunkBytes: number;
  /** Milliseconds since the epoch. */
  readonly putAt: number;
}

export const PINNED: Uint8Array = Uint8Array.of(1);
export const CITED: Uint8Array = Uint8Array.of(0);

interface Range {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** All rows of a kind. */
const allOf = (kind: number): Range => ({ start: Buffer.of(kind), end: Buffer.of(kind + 1) });
export const ALL_CONTENTS = allOf(KIND.content);
export const ALL_STAGED = allOf(KIND.staged);

/** The last chunk first. */
export const CHUNKS_DOWN = {
  start: Buffer.of(KIND.chunk + 1),
  end: Buffer.of(KIND.chunk),
  reverse: true,
  limit: 1,
};

export function contentKey(hash: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(KIND.content), hash]);
}

export function hashOfContent(key: Uint8Array): Uint8Array {
  return key.subarray(1, 1 + HASH_BYTES);
}

export function chunkKey(upload: number, index: number): Buffer {
  const key = Buffer.allocUnsafe(13);
  key[0] = KIND.chunk;
  writeKey(key, 1, upload);
  key.writeUInt32BE(index, 9);
  return key;
}

export function chunksOfUpload(upload: number): Range {
  return { start: chunkKey(upload, 0), end: chunkKey(upload + 1, 0) };
}

export function stagedKey(upload: number): Buffer {
  const key = Buffer.allocUnsafe(9);
  key[0] = KIND.staged;
  return writeKey(key, 1, upload);
}

/** Of a chunk, or of a staged upload. */
export function uploadOf(key: Uint8Array): number {
  return readKey(key, 1);
}

export function citationKey(hash: Uint8Array, execution: number): Buffer {
  const key = Buffer.allocUnsafe(1 + HASH_BYTES + 8);
  key[0] = KIND.citation;
  key.set(hash, 1);
  return writeKey(key, 1 + HASH_BYTES, execution);
}

export function citationsOfHash(hash: Uint8Array): Range {
  const start = Buffer.concat([Buffer.of(KIND.citation), hash]);
  return { start, end: Buffer.concat([start, Buffer.alloc(9, 0xff)]) };
}

/** `[version, size, upload, chunkBytes, putAt]` */
export function encodeContent({ size, upload, chunkBytes, putAt }: ContentRow): Uint8Array {
  return packRecord([CONTENT_VERSION, size, upload, chunkBytes, putAt]);
}

export function decodeContent(bytes: Uint8Array): ContentRow {
  const stored = unpackRecord(bytes);
  const [version, size, upload, chunkBytes, putAt]: readonly unknown[] = Array.isArray(stored)
    ? (stored as readonly unknown[])
    : [];
  if (
    version === CONTENT_VERSION &&
    typeof size === "number" &&
    typeof upload === "number" &&
    typeof chunkBytes === "number" &&
    typeof putAt === "number"
  )
    return { size, upload, chunkBytes, putAt };
  throw new HeddleError("RECORD_UNREADABLE", "The row of some content cannot be read by this heddle.");
}
