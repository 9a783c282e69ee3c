// LmdbContentStore: the content of all partitions of a directory, beside their logs.
//
// Owns       nothing: partitions have the rows.
// Leaves     writing to PartitionContent.
//
// M1  Content lies in the partition of the execution it was put for, and is found wherever it lies. Partitions are looked
//     through in turn: there are few.
// M2  Reading needs no ownership, and goes a megabyte at a time, each within one turn.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { ContentSource } from "../../chunks.js";
import { partitionOf } from "../../ids.js";
import {
  type ContentReferences,
  type ContentStore,
  type ContentSweep,
  checkSweep,
  contentMissing,
  hashOfRef,
  type PutOptions,
  type StoredContent,
  type SweptContent,
} from "../content/content-store.js";
import type { ContentRow } from "./content-keys.js";
import type { ContentRows } from "./content-rows.js";
import type { PartitionContent } from "./partition-content.js";

/** Chunks read in one turn. (M2) */
const PAGE = 16;
const CONTENTS_PER_PAGE = 256;

export interface ContentPartitions {
  readonly count: number;
  readonly now: () => number;
  /** Runs `use` on the content of a partition as it is now; undefined when it has none. */
  view<T>(partition: number, use: (rows: ContentRows) => T): T | undefined;
  /** Throws STORAGE_FAILED when the partition, or each of them, is not open for writing here. */
  writable(partition: number | undefined): PartitionContent;
}

interface Found {
  readonly partition: number;
  readonly hash: Uint8Array;
  readonly row: ContentRow;
}

export class LmdbContentStore implements ContentStore {
  readonly #partitions: ContentPartitions;

  constructor(partitions: ContentPartitions) {
    this.#partitions = partitions;
  }

  async put(source: ContentSource, { executionId }: PutOptions = {}): Promise<StoredContent> {
    const partition =
      executionId === undefined ? undefined : partitionOf(executionId, this.#partitions.count);
    return this.#partitions.writable(partition).put(source);
  }

  async get(ref: string): Promise<Uint8Array | null> {
    const found = this.#find(ref);
    if (!found) return null;
    const bytes = Buffer.allocUnsafeSlow(found.row.size);
    for (let first = 0; first < chunkCount(found.row); first += PAGE) {
      if (first > 0) await nextTurn();
      this.#copyPage(ref, found, first, bytes, 0);
    }
    return bytes;
  }

  async stream(ref: string): Promise<AsyncIterable<Uint8Array> | null> {
    const found = this.#find(ref);
    return found ? this.#chunks(ref, found) : null;
  }

  async has(ref: string): Promise<boolean> {
    return this.#find(ref) !== undefined;
  }

  async references(ref: string): Promise<ContentReferences> {
    const hash = hashOfRef(ref);
    return hash ? this.#references(hash) : { executions: 0, isPinned: false };
  }

  async delete(ref: string): Promise<boolean> {
    let isGone = false;
    for (let found = this.#find(ref); found; found = this.#find(ref)) {
      const { hash, partition } = found;
      const removed = await this.#partitions
        .writable(partition)
        .remove(hash, () => !this.#references(hash).isPinned);
      if (removed === undefined) break;
      isGone = true;
    }
    return isGone;
  }

  async sweep(sweep: ContentSweep): Promise<SweptContent> {
    checkSweep(sweep);
    const { olderThanMs, uncitedOnly = false } = sweep;
    const before = this.#partitions.now() - olderThanMs;
    let removed = 0;
    let bytes = 0;
    for (let partition = 0; partition < this.#partitions.count; partition++) {
      const content = this.#partitions.writable(partition);
      const page = (after?: Uint8Array) =>
        this.#partitions.view(partition, (rows) => rows.contents(after, CONTENTS_PER_PAGE)) ?? [];
      for (let contents = page(); contents.length > 0; contents = page(contents.at(-1)?.hash)) {
        for (const { hash, row } of contents) {
          const mayGo = ({ putAt }: ContentRow): boolean => {
            if (putAt > before) return false;
            const { executions, isPinned } = this.#references(hash);
            return !isPinned && !(uncitedOnly && executions > 0);
          };
          const size = mayGo(row) ? await content.remove(hash, mayGo) : undefined;
          if (size === undefined) continue;
          removed += 1;
          bytes += size;
        }
      }
    }
    return { removed, bytes };
  }

  #references(hash: Uint8Array): ContentReferences {
    let executions = 0;
    let isPinned = false;
    for (let partition = 0; partition < this.#partitions.count; partition++) {
      const here = this.#partitions.view(partition, (rows) => rows.references(hash));
      executions += here?.executions ?? 0;
      isPinned ||= here?.isPinned === true;
    }
    return { executions, isPinned };
  }

  /** M1 */
  #find(ref: string): Found | undefined {
    const hash = hashOfRef(ref);
    if (!hash) return undefined;
    for (let partition = 0; partition < this.#partitions.count; partition++) {
      const row = this.#partitions.view(partition, (rows) => rows.content(hash));
      if (row) return { partition, hash, row };
    }
    return undefined;
  }

  async *#chunks(ref: string, found: Found): AsyncGenerator<Uint8Array> {
    const { size, chunkBytes } = found.row;
    for (let first = 0; first < chunkCount(found.row); first += PAGE) {
      const page = new Uint8Array(Math.min(PAGE * chunkBytes, size - first * chunkBytes));
      this.#copyPage(ref, found, first, page, first);
      yield page;
    }
  }

  /** M2: up to PAGE chunks, to where they belong in `target`, which begins with chunk `origin`. */
  #copyPage(
    ref: string,
    { partition, hash, row }: Found,
    first: number,
    target: Uint8Array,
    origin: number,
  ): void {
    const isThere = this.#partitions.view(partition, (rows) => {
      // Chunks of content that was removed meanwhile may be half gone.
      if (rows.content(hash)?.upload !== row.upload) return false;
      const end = Math.min(first + PAGE, chunkCount(row));
      for (let index = first; index < end; index++)
        if (!rows.copyChunk(row, index, target, origin)) return false;
      return true;
    });
    if (!isThere) throw contentMissing(ref);
  }
}

function chunkCount({ size, chunkBytes }: ContentRow): number {
  return Math.ceil(size / chunkBytes);
}
