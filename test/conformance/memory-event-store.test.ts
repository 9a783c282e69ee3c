import { describe, it } from "vitest";
import { MemoryEventStore, MemorySnapshotStore } from "../../src/kernel/store/index.js";
import { eventStoreSuite, snapshotStoreSuite } from "../../src/testing/index.js";

eventStoreSuite({
  name: "MemoryEventStore",
  describe,
  it,
  capabilities: { persistent: false },
  async open(options) {
    const store = new MemoryEventStore(options);
    return {
      store,
      reopen: () => Promise.reject(new Error("a store in memory keeps nothing beyond its object")),
      dispose: () => store.close(),
    };
  },
});

snapshotStoreSuite({
  name: "MemorySnapshotStore",
  describe,
  it,
  open: async () => ({ snapshots: new MemorySnapshotStore(), dispose: async () => undefined }),
});
