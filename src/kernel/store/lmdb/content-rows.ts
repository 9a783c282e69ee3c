// The content of one partition, as look-ups: what LmdbRows is to its log.

import type { ContentReferences } from "../content/content-store.js";
import {
  ALL_CONTENTS,
  CHUNKS_DOWN,
  type ContentRow,
  chunkKey,
  citationKey,
  citationsOfHash,
  contentKey,
  decodeContent,
  hashOfContent,
  uploadOf,
} from "./content-keys.js";
import type { Table } from "./lmdb-rows.js";

export class ContentRows {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  content(hash: Uint8Array): ContentRow | undefined {
    const bytes = this.#table.getBinary(contentKey(hash));
    return bytes && decodeContent(bytes);
  }

  /** The contents after this one, or the first ones. */
  contents(
    after: Uint8Array | undefined,
    limit: number,
  ): { readonly hash: Uint8Array; readonly row: ContentRow }[] {
    const start = after ? Buffer.concat([contentKey(after), Buffer.alloc(1)]) : ALL_CONTENTS.start;
    const page = this.#table.getRange({ start, end: ALL_CONTENTS.end, limit });
    return [...page].map(({ key, value }) => ({
      hash: new Uint8Array(hashOfContent(key)),
      row: decodeContent(value),
    }));
  }

  get isEmpty(): boolean {
    for (const _key of this.#table.getKeys({ ...ALL_CONTENTS, limit: 1 })) return false;
    return true;
  }

  /**
   * Copies a chunk to where it belongs in `target`, which begins with chunk `first`. False when it is not there. Content is large,
   * so nothing is left for the garbage collector: lmdb-js lends the bytes until the next read.
   */
  copyChunk({ size, upload, chunkBytes }: ContentRow, index: number, target: Uint8Array, first = 0): boolean {
    const length = Math.min(chunkBytes, size - index * chunkBytes);
    const lent = this.#table.getBinaryFast(chunkKey(upload, index));
    if (!lent || lent.length < length) return false;
    target.set(lent.subarray(0, length), (index - first) * chunkBytes);
    return true;
  }

  /** One more than that of any chunk there is. */
  nextUpload(): number {
    for (const key of this.#table.getKeys(CHUNKS_DOWN)) return uploadOf(key) + 1;
    return 1;
  }

  references(hash: Uint8Array): ContentReferences {
    let executions = 0;
    let isPinned = false;
    for (const { value } of this.#table.getRange(citationsOfHash(hash))) {
      executions += 1;
      isPinned ||= value[0] === 1;
    }
    return { executions, isPinned };
  }

  isCitedBy(hash: Uint8Array, execution: number): boolean {
    return this.#table.getBinary(citationKey(hash, execution)) !== undefined;
  }
}
