// StateReader: an execution's state from what is durable, a snapshot shortening the fold where there is one.

import {
  type ExecutionState,
  type FoldedState,
  fold,
  HeddleError,
  type PartitionLog,
  revealState,
  type Snapshot,
  type SnapshotStore,
  type Unseal,
} from "../kernel/index.js";

/** Owned or not: folding takes no more than this. */
type ReadableLog = Pick<PartitionLog, "load">;

interface Place {
  readonly id: string;
  readonly key: number;
}

export class StateReader {
  readonly #snapshots: SnapshotStore;
  readonly #snapshotEvery: number | undefined;

  constructor(snapshots: SnapshotStore, snapshotEvery: number | undefined) {
    this.#snapshots = snapshots;
    this.#snapshotEvery = snapshotEvery;
  }

  /** The state as of everything that is there, or as of one event of it. `unseal` opens the output, for whoever it is for. */
  async read(log: ReadableLog, execution: Place, upTo = Infinity, unseal?: Unseal): Promise<ExecutionState> {
    return revealState(execution.id, await this.#fold(log, execution, upTo), unseal);
  }

  /** Whether a move that ends at `sequence` and began at `from` crosses a checkpoint. */
  isCheckpoint(from: number, sequence: number): boolean {
    const every = this.#snapshotEvery;
    return every !== undefined && Math.floor((sequence + 1) / every) > Math.floor(from / every);
  }

  /**
   * Saves a snapshot as of an event that is durable, and no later: it may outlive what is not. Losing one costs time, never truth,
   * so nobody waits for it.
   */
  async checkpoint(log: ReadableLog, execution: Place, upTo: number): Promise<void> {
    const state = await this.#fold(log, execution, upTo);
    await this.#snapshots.save({ executionId: execution.id, sequence: state.sequence, state });
  }

  async #fold(log: ReadableLog, { id, key }: Place, upTo: number): Promise<FoldedState> {
    const saved = this.#snapshotEvery === undefined ? undefined : await this.#load(id);
    const snapshot = saved && saved.sequence <= upTo ? saved : undefined;
    const [records] = await log.load([key], snapshot ? snapshot.sequence + 1 : 0);
    if (records instanceof HeddleError) throw records;
    return fold(records ?? [], snapshot?.state as FoldedState | undefined, upTo);
  }

  /** One that cannot be read is as good as none: the log says it all again, and the next checkpoint replaces it. */
  async #load(id: string): Promise<Snapshot | undefined> {
    try {
      return await this.#snapshots.load(id);
    } catch {
      return undefined;
    }
  }
}
