// ContentStore: bytes that are too large for a log, under the hash of what they are. A log cites them by that address; it
// never needs them to be read or replayed.
//
// N1  The same bytes have the same address, and are kept once in a partition.
// N2  `put` resolves when the bytes are durable; what was cut short before that leaves nothing behind.
// N3  A log that mentions an address cites it, from the commit on that records it. What a log holds on to (an envelope with
//     `retain`, or an event a program emitted) is pinned: neither `delete` nor a sweep takes it.

import type { ContentSource } from "../../chunks.js";
import { HeddleError } from "../../errors.js";

export interface StoredContent {
  /** `sha256:` and 64 hexadecimal digits. */
  readonly ref: string;
  /** In bytes. */
  readonly size: number;
}

export interface PutOptions {
  /** The execution that will record the address: the bytes are kept in the partition of its log. Default: the first one. */
  readonly executionId?: string | undefined;
}

/** How the logs stand to some content. */
export interface ContentReferences {
  /** Executions that mention it. */
  readonly executions: number;
  /** Whether one of them holds on to it. */
  readonly isPinned: boolean;
}

export interface ContentSweep {
  /** Only what was last put so many milliseconds ago, at least. */
  readonly olderThanMs: number;
  /** True to leave alone what any log mentions. Default false: only what a log holds on to is left. */
  readonly uncitedOnly?: boolean | undefined;
}

export interface SweptContent {
  readonly removed: number;
  readonly bytes: number;
}

export interface ContentStore {
  /** A stream is read to its end and never held in memory. Rejects with what the stream fails with. */
  put(source: ContentSource, options?: PutOptions): Promise<StoredContent>;
  /** All of it at once, or null when it is not there. */
  get(ref: string): Promise<Uint8Array | null>;
  /** Piece by piece, or null when it is not there. Fails with CONTENT_MISSING when it is deleted meanwhile. */
  stream(ref: string): Promise<AsyncIterable<Uint8Array> | null>;
  has(ref: string): Promise<boolean>;
  references(ref: string): Promise<ContentReferences>;
  /** Whether it was there and is gone now; what is pinned stays. */
  delete(ref: string): Promise<boolean>;
  sweep(sweep: ContentSweep): Promise<SweptContent>;
}

/**
 * Removes content that no log holds on to, once it is old enough. Replays do not miss it: they never read content.
 *
 * @throws INPUT_INVALID for an age that is no number of milliseconds
 */
export function sweepUnpinnedContent(store: ContentStore, sweep: ContentSweep): Promise<SweptContent> {
  return store.sweep(sweep);
}

/** With LMDB's header it fills sixteen pages of 4 KiB exactly. */
export const CHUNK_BYTES = 64 * 1024 - 16;

const PREFIX = "sha256:";
const REF_CHARS = PREFIX.length + 64;
const REF = /^sha256:[0-9a-f]{64}$/;

export function refOfHash(hash: Uint8Array): string {
  return PREFIX + Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString("hex");
}

/** Undefined for what is no address: there is nothing under it. */
export function hashOfRef(ref: unknown): Buffer | undefined {
  return isRef(ref) ? Buffer.from(ref.slice(PREFIX.length), "hex") : undefined;
}

export function isRef(value: unknown): value is string {
  return typeof value === "string" && value.length === REF_CHARS && REF.test(value);
}

export function checkSweep({ olderThanMs }: ContentSweep): void {
  if (typeof olderThanMs === "number" && olderThanMs >= 0) return;
  throw new HeddleError(
    "INPUT_INVALID",
    `A sweep takes olderThanMs, a number of milliseconds of at least 0, not ${String(olderThanMs)}.`,
  );
}

export function contentMissing(ref: string): HeddleError {
  return new HeddleError(
    "CONTENT_MISSING",
    `The content ${ref} is not in the store: it was deleted, swept, or put into another one.`,
    { details: { ref } },
  );
}
