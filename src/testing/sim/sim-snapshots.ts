// SimSnapshots: a store of snapshots apart from the log, so that a snapshot survives what the log loses.

import { MemorySnapshotStore, type Snapshot } from "../../kernel/index.js";
import type { Observer } from "./observation.js";

export class SimSnapshots extends MemorySnapshotStore {
  readonly #observer: Observer;

  constructor(observer: Observer) {
    super();
    this.#observer = observer;
  }

  override async save(snapshot: Snapshot): Promise<void> {
    const { executionId, sequence } = snapshot;
    this.#observer.see({ kind: "saved", executionId, sequence });
    await super.save(snapshot);
  }
}
