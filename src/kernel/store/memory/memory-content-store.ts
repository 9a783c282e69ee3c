// Content that lives as long as the object, for logs that do too.

import { createHash } from "node:crypto";
import { type ContentSource, chunksOf } from "../../chunks.js";
import type { ExecutionEvent } from "../../events.js";
import { citationsOf } from "../content/citations.js";
import {
  CHUNK_BYTES,
  type ContentReferences,
  type ContentStore,
  type ContentSweep,
  checkSweep,
  contentMissing,
  refOfHash,
  type StoredContent,
  type SweptContent,
} from "../content/content-store.js";

interface Content {
  readonly size: number;
  readonly chunks: readonly Uint8Array[];
  readonly putAt: number;
}

export class MemoryContentStore implements ContentStore {
  readonly #now: () => number;
  readonly #contents = new Map<string, Content>();
  /** By address and execution: whether it is pinned. */
  readonly #citations = new Map<string, Map<string, boolean>>();
  #isInUse = false;

  /** `now` gives milliseconds since the epoch. */
  constructor({ now }: { readonly now: () => number }) {
    this.#now = now;
  }

  async put(source: ContentSource): Promise<StoredContent> {
    this.#isInUse = true;
    const hash = createHash("sha256");
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of chunksOf(source, () => new Uint8Array(CHUNK_BYTES))) {
      hash.update(chunk);
      chunks.push(chunk);
      size += chunk.length;
    }
    const ref = refOfHash(hash.digest());
    this.#contents.set(ref, { size, chunks: this.#contents.get(ref)?.chunks ?? chunks, putAt: this.#now() });
    return { ref, size };
  }

  async get(ref: string): Promise<Uint8Array | null> {
    const content = this.#contents.get(ref);
    return content ? Buffer.concat(content.chunks, content.size) : null;
  }

  async stream(ref: string): Promise<AsyncIterable<Uint8Array> | null> {
    return this.#contents.has(ref) ? this.#pieces(ref) : null;
  }

  async has(ref: string): Promise<boolean> {
    return this.#contents.has(ref);
  }

  async references(ref: string): Promise<ContentReferences> {
    const citing = this.#citations.get(ref);
    return { executions: citing?.size ?? 0, isPinned: this.#isPinned(ref) };
  }

  async delete(ref: string): Promise<boolean> {
    return !this.#isPinned(ref) && this.#contents.delete(ref);
  }

  async sweep(sweep: ContentSweep): Promise<SweptContent> {
    checkSweep(sweep);
    const { olderThanMs, uncitedOnly = false } = sweep;
    const before = this.#now() - olderThanMs;
    let removed = 0;
    let bytes = 0;
    for (const [ref, { size, putAt }] of this.#contents) {
      if (putAt > before || this.#isPinned(ref) || (uncitedOnly && this.#citations.has(ref))) continue;
      this.#contents.delete(ref);
      removed += 1;
      bytes += size;
    }
    return { removed, bytes };
  }

  /** What a log has recorded. As long as nothing was put, no event is looked through. (N3) */
  cite(executionId: string, events: readonly ExecutionEvent[]): void {
    if (!this.#isInUse) return;
    for (const [ref, isPinned] of citationsOf(events)) {
      const citing = this.#citations.get(ref) ?? new Map<string, boolean>();
      citing.set(executionId, isPinned || citing.get(executionId) === true);
      this.#citations.set(ref, citing);
    }
  }

  #isPinned(ref: string): boolean {
    for (const isPinned of this.#citations.get(ref)?.values() ?? []) if (isPinned) return true;
    return false;
  }

  async *#pieces(ref: string): AsyncGenerator<Uint8Array> {
    const content = this.#contents.get(ref);
    for (const chunk of content?.chunks ?? []) {
      if (this.#contents.get(ref)?.chunks !== content?.chunks) throw contentMissing(ref);
      yield new Uint8Array(chunk);
    }
  }
}
