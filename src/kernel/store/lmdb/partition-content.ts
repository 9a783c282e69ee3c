// PartitionContent: the owner's hand on the content of one partition.
//
// Owns       the numbers of uploads.
// Leaves     order and durability to writer.ts, reading and the choice of a partition to LmdbContentStore.
//
// D1  Content is there with one commit, when all its chunks are. Until then its upload is staged: whoever opens the partition
//     next removes what is staged, so a kill at any point leaves nothing behind.
// D2  A commit takes a megabyte of chunks at most: executions that commit meanwhile do not wait for all of it.
// D3  An upload has one block of memory, which is used again when a commit is durable. (lmdb-js keeps a pointer till then.)
//     What fails here fails here alone: the log beside it goes on.
// D4  Content is removed by staging its chunks, in the commit that checks that nothing pins it. What is empty has none, and the
//     number of its upload may by now be that of another.

import { createHash } from "node:crypto";
import { type ContentSource, chunksOf } from "../../chunks.js";
import { invariant } from "../../errors.js";
import type { ExecutionEvent } from "../../events.js";
import { citationsOf } from "../content/citations.js";
import { CHUNK_BYTES, hashOfRef, refOfHash, type StoredContent } from "../content/content-store.js";
import {
  ALL_STAGED,
  CITED,
  type ContentRow,
  chunkKey,
  chunksOfUpload,
  citationKey,
  contentKey,
  encodeContent,
  PINNED,
  stagedKey,
  uploadOf,
} from "./content-keys.js";
import { ContentRows } from "./content-rows.js";
import { viewEnvironment } from "./environment.js";
import type { Table } from "./lmdb-rows.js";
import type { Writer } from "./writer.js";

/** Chunks a commit. (D2) */
const BATCH = 16;
/** Removing a row is cheaper than writing it. */
const REMOVALS = 256;

/**
 * Whether any partition of a store has content: as long as none has, no event is looked through. A store that has only some of the
 * partitions open is told of the others when it is made (`citesContent`).
 */
export interface ContentUse {
  isInUse: boolean;
}

export class PartitionContent {
  readonly #writer: Writer;
  readonly #use: ContentUse;
  readonly #now: () => number;
  readonly #table: Table;
  readonly #rows: ContentRows;
  #nextUpload: number;

  constructor(writer: Writer, use: ContentUse, now: () => number) {
    const { content } = writer.environment.tables;
    invariant(content, "D1", "an environment open for writing has all tables");
    this.#writer = writer;
    this.#use = use;
    this.#now = now;
    this.#table = content;
    this.#rows = new ContentRows(content);
    this.#nextUpload = this.#view((rows) => rows.nextUpload());
    use.isInUse ||= this.#view((rows) => !rows.isEmpty);
  }

  async put(source: ContentSource): Promise<StoredContent> {
    this.#use.isInUse = true;
    const upload = new Upload(this.#nextUpload++, this.#writer, this.#table);
    const hash = createHash("sha256");
    let size = 0;
    try {
      for await (const chunk of chunksOf(source, () => upload.lend())) {
        hash.update(chunk);
        size += chunk.length;
        await upload.add(chunk);
      }
      const digest = hash.digest();
      const row = { size, upload: upload.number, chunkBytes: CHUNK_BYTES, putAt: this.#now() };
      const isNew = await upload.end(() => this.#keep(digest, row));
      if (!isNew) await this.#dropChunks(upload.number);
      return { ref: refOfHash(digest), size };
    } catch (error) {
      // When this cannot be written either, the next opening does it. (D1)
      if (upload.isStaged) await this.#dropChunks(upload.number).catch(() => {});
      throw error;
    }
  }

  /** Within a write: whether these chunks are the content's from now on; they are not when it was there before. */
  #keep(hash: Uint8Array, row: ContentRow): boolean {
    const known = this.#rows.content(hash);
    void this.#table.put(contentKey(hash), encodeContent(known ? { ...known, putAt: row.putAt } : row));
    return known === undefined;
  }

  /** Removes content if `mayGo` still agrees in the commit that does it. Returns its size. (D4) */
  async remove(hash: Uint8Array, mayGo: (row: ContentRow) => boolean): Promise<number | undefined> {
    let gone: ContentRow | undefined;
    await this.#writer.writeBeside(() => {
      const row = this.#rows.content(hash);
      if (!row || !mayGo(row)) return;
      gone = row;
      void this.#table.remove(contentKey(hash));
      if (hasChunks(row)) void this.#table.put(stagedKey(row.upload), CITED);
    });
    if (!gone) return undefined;
    if (hasChunks(gone)) await this.#dropChunks(gone.upload);
    return gone.size;
  }

  /** Within a write: what a log records from now on. */
  cite(execution: number, events: readonly ExecutionEvent[]): void {
    if (!this.#use.isInUse) return;
    for (const [ref, isPinned] of citationsOf(events)) {
      const hash = hashOfRef(ref);
      if (hash && (isPinned || !this.#rows.isCitedBy(hash, execution)))
        void this.#table.put(citationKey(hash, execution), isPinned ? PINNED : CITED);
    }
  }

  /** Removes what uploads left that were cut short. Only before the first of this opening. */
  async dropStaged(): Promise<void> {
    const staged = this.#view(() => [...this.#table.getKeys(ALL_STAGED)].map(uploadOf));
    for (const upload of staged) await this.#dropChunks(upload);
  }

  async #dropChunks(upload: number): Promise<void> {
    for (let isLast = false; !isLast; ) {
      await this.#writer.writeBeside(() => {
        const keys = [...this.#table.getKeys({ ...chunksOfUpload(upload), limit: REMOVALS })];
        isLast = keys.length < REMOVALS;
        for (const key of keys) void this.#table.remove(key);
        if (isLast) void this.#table.remove(stagedKey(upload));
      });
    }
  }

  #view<T>(use: (rows: ContentRows) => T): T {
    return viewEnvironment(this.#writer.environment, () => use(this.#rows));
  }
}

function hasChunks({ size }: ContentRow): boolean {
  return size > 0;
}

/** One upload on its way in. */
class Upload {
  readonly number: number;
  /** Whether anything of it is in the table. */
  isStaged = false;
  readonly #writer: Writer;
  readonly #table: Table;
  #block: ArrayBuffer | undefined;
  #batch: Uint8Array[] = [];
  #written = 0;

  constructor(number: number, writer: Writer, table: Table) {
    this.number = number;
    this.#writer = writer;
    this.#table = table;
  }

  /** Memory for the next chunk. The first has its own, because most content has no second. (D3) */
  lend(): Uint8Array {
    const used = this.#batch.length;
    if (this.#written === 0 && used === 0) return new Uint8Array(CHUNK_BYTES);
    this.#block ??= new ArrayBuffer(BATCH * CHUNK_BYTES);
    return new Uint8Array(this.#block, used * CHUNK_BYTES, CHUNK_BYTES);
  }

  async add(chunk: Uint8Array): Promise<void> {
    this.#batch.push(chunk);
    if (this.#batch.length < BATCH) return;
    const isFirst = !this.isStaged;
    this.isStaged = true;
    await this.#writer.writeBeside(() => {
      if (isFirst) void this.#table.put(stagedKey(this.number), CITED);
      this.#putBatch();
    });
    this.#written += this.#batch.length;
    this.#batch = [];
  }

  /** The last chunks and the content in one commit. Whether the chunks were new. */
  async end(keep: () => boolean): Promise<boolean> {
    let isNew = false;
    await this.#writer.writeBeside(() => {
      isNew = keep();
      if (isNew) this.#putBatch();
      if (isNew && this.isStaged) void this.#table.remove(stagedKey(this.number));
    });
    return isNew || !this.isStaged;
  }

  #putBatch(): void {
    for (const [i, chunk] of this.#batch.entries())
      void this.#table.put(chunkKey(this.number, this.#written + i), chunk);
  }
}
