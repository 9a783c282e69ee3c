// Storage: what `defineConfig({ storage })` takes, and the stores it stands for.

import { isMainThread } from "node:worker_threads";
import {
  type ContentStore,
  type EventStore,
  HeddleError,
  LmdbEventStore,
  MemoryContentStore,
  MemoryEventStore,
  MemorySnapshotStore,
  type SnapshotStore,
} from "../kernel/index.js";
import { NoContentStore } from "./no-content-store.js";
import { HEDDLE_VERSION } from "./version.js";

/** Git-style references to executions. Branching itself is not in this version. */
export interface BranchRegistry {
  putRef(ref: { name: string; executionId: string; tip: number }): Promise<void>;
  promote(from: string, to: string, options?: { expect?: string | null }): Promise<void>;
}

export interface LmdbStorage {
  readonly kind: "lmdb";
  readonly dir: string;
  readonly partitions?: number | undefined;
  readonly sync?: "flush" | "commit" | undefined;
}

export type StorageConfig =
  | { kind: "memory" }
  | LmdbStorage
  | {
      kind: "custom";
      eventStore: EventStore;
      snapshotStore: SnapshotStore;
      /** For large results. Without it nothing can be put away. */
      contentStore?: ContentStore | undefined;
      branchRegistry?: BranchRegistry | undefined;
    };

/**
 * A directory of LMDB environments on a local disk, owned by one process at a time.
 *
 * @param options.dir made when it is missing
 * @param options.partitions fixed when the directory is made; default 1
 * @param options.sync what a caller's answer waits for: "flush" (default) survives a loss of power, "commit" the death of
 *   the process
 */
export function lmdbStorage(options: Omit<LmdbStorage, "kind">): LmdbStorage {
  return { kind: "lmdb", ...options };
}

/** What directories say of their maker. */
export const CREATED_BY = `heddle ${HEDDLE_VERSION}`;

export interface Stores {
  readonly eventStore: EventStore;
  readonly snapshotStore: SnapshotStore;
  /** Bytes that are too large for the log, beside it. */
  readonly contentStore: ContentStore;
}

export interface StoreOptions {
  readonly now: () => number;
  readonly warn: (message: string) => void;
  /** Partition threads: a new directory gets a partition for each, unless it is told. */
  readonly threads?: number | undefined;
  /** Whether effects put content. */
  readonly citesContent?: boolean | undefined;
}

export function openStores(storage: StorageConfig, options: StoreOptions): Stores {
  const { now, warn } = options;
  const onListenerError = (error: unknown): void =>
    warn(`A subscriber of the event store threw: ${error instanceof Error ? error.message : String(error)}`);
  switch (storage?.kind) {
    case "memory": {
      const contentStore = new MemoryContentStore({ now });
      return {
        eventStore: new MemoryEventStore({ content: contentStore, onListenerError }),
        snapshotStore: new MemorySnapshotStore(),
        contentStore,
      };
    }
    case "lmdb": {
      const eventStore = openLmdb(storage, options, onListenerError);
      return { eventStore, snapshotStore: eventStore.snapshots, contentStore: eventStore.content };
    }
    case "custom":
      if (storage.branchRegistry !== undefined) {
        throw invalid(
          "storage.branchRegistry",
          "storage.branchRegistry: branching is not in this version of heddle.",
        );
      }
      if (
        typeof storage.eventStore?.open !== "function" ||
        typeof storage.snapshotStore?.load !== "function"
      ) {
        throw invalid("storage", "A custom storage needs an eventStore and a snapshotStore.");
      }
      return {
        eventStore: storage.eventStore,
        snapshotStore: storage.snapshotStore,
        contentStore: storage.contentStore ?? new NoContentStore(),
      };
    default:
      throw invalid(
        "storage",
        'storage must be { kind: "memory" }, lmdbStorage({ dir }) or { kind: "custom", eventStore, snapshotStore }.',
      );
  }
}

function openLmdb(
  { dir, partitions, sync }: LmdbStorage,
  { now, threads = 0, citesContent = false }: StoreOptions,
  onListenerError: (error: unknown) => void,
): LmdbEventStore {
  if (typeof dir !== "string" || dir.length === 0) {
    throw invalid("storage.dir", 'lmdbStorage needs a directory: lmdbStorage({ dir: ".data" }).');
  }
  if (sync !== undefined && sync !== "flush" && sync !== "commit") {
    throw invalid("storage.sync", `lmdbStorage: sync is "flush" or "commit", not ${JSON.stringify(sync)}.`);
  }
  const eventStore = new LmdbEventStore({
    interruptible: !isMainThread, // whoever started this thread may terminate it
    dir,
    now,
    createdBy: CREATED_BY,
    onListenerError,
    citesContent,
    newPartitions: Math.max(threads, 1),
    ...(partitions !== undefined && { partitions }),
    ...(sync !== undefined && { sync }),
  });
  if (eventStore.partitions < threads) {
    throw new HeddleError(
      "CONFIG_INVALID",
      `workers.actors is ${threads}, and ${dir} has ${eventStore.partitions} partitions, which is fixed when a directory is ` +
        `made: set workers.actors to at most ${eventStore.partitions}, or make a directory with partitions: ${threads}.`,
      { details: { option: "workers.actors", partitions: eventStore.partitions } },
    );
  }
  return eventStore;
}

function invalid(option: string, message: string): HeddleError {
  return new HeddleError("CONFIG_INVALID", message, { details: { option } });
}
