import { decodeSnapshot, encodeSnapshot } from "../record.js";
import type { Snapshot, SnapshotStore } from "../spi.js";

/** Snapshots that live as long as the object; kept packed, like everything else a store is given. */
export class MemorySnapshotStore implements SnapshotStore {
  readonly #snapshots = new Map<string, Uint8Array>();

  async save(snapshot: Snapshot): Promise<void> {
    this.#snapshots.set(snapshot.executionId, encodeSnapshot(snapshot));
  }

  async load(executionId: string): Promise<Snapshot | undefined> {
    const bytes = this.#snapshots.get(executionId);
    return bytes && decodeSnapshot(executionId, bytes);
  }

  async delete(executionId: string): Promise<void> {
    this.#snapshots.delete(executionId);
  }
}
