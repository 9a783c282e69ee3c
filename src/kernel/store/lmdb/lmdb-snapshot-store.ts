import { decodeSnapshot, encodeSnapshot } from "../record.js";
import type { Snapshot, SnapshotStore } from "../spi.js";
import type { Environment } from "./environment.js";
import { idKey } from "./keys.js";
import type { Writer } from "./writer.js";

export interface LmdbSnapshotStoreOptions {
  /** The writer of the execution's partition. Throws when the partition is not open for writing here. */
  readonly writerOf: (executionId: string) => Writer;
  readonly view: <T>(executionId: string, use: (environment: Environment) => T) => T | undefined;
}

/** Snapshots beside the log they shorten, in the environment of the partition; written by its owner, read by anyone. */
export class LmdbSnapshotStore implements SnapshotStore {
  readonly #options: LmdbSnapshotStoreOptions;

  constructor(options: LmdbSnapshotStoreOptions) {
    this.#options = options;
  }

  async save(snapshot: Snapshot): Promise<void> {
    const writer = this.#options.writerOf(snapshot.executionId);
    const key = idKey(snapshot.executionId);
    const bytes = encodeSnapshot(snapshot);
    await writer.write(() => void writer.environment.tables.snapshot.put(key, bytes));
  }

  async load(executionId: string): Promise<Snapshot | undefined> {
    const key = idKey(executionId);
    return this.#options.view(executionId, ({ tables }) => {
      const bytes = tables.snapshot.getBinary(key);
      return bytes && decodeSnapshot(executionId, bytes);
    });
  }

  async delete(executionId: string): Promise<void> {
    const writer = this.#options.writerOf(executionId);
    const key = idKey(executionId);
    await writer.write(() => void writer.environment.tables.snapshot.remove(key));
  }
}
