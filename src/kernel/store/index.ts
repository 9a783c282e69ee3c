export {
  type ContentReferences,
  type ContentStore,
  type ContentSweep,
  contentMissing,
  type PutOptions,
  type StoredContent,
  type SweptContent,
  sweepUnpinnedContent,
} from "./content/content-store.js";
export { type FollowOptions, followEvents } from "./follow.js";
export { type Following, LmdbEventStore } from "./lmdb/lmdb-event-store.js";
export { MemoryContentStore } from "./memory/memory-content-store.js";
export { MemoryEventStore } from "./memory/memory-event-store.js";
export { MemorySnapshotStore } from "./memory/memory-snapshot-store.js";
export type {
  CommitBatch,
  EventStore,
  ExecutionCommit,
  ExecutionHeader,
  ListFilter,
  LogRecord,
  PartitionLog,
  ReadRange,
  SetAside,
  Snapshot,
  SnapshotStore,
  SubscribeOptions,
  TimerRow,
} from "./spi.js";
export type { ListenerErrorHandler } from "./subscribers.js";
