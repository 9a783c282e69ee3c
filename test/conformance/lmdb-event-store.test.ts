import { describe, it } from "vitest";
import { LmdbEventStore } from "../../src/kernel/store/index.js";
import { eventStoreSuite, snapshotStoreSuite } from "../../src/testing/index.js";
import { temporaryDirectory } from "../kernel/store/temporary-directory.js";

for (const sync of ["flush", "commit"] as const) {
  eventStoreSuite({
    name: `LmdbEventStore, sync: ${sync}`,
    describe,
    it,
    capabilities: { persistent: true },
    async open(options) {
      const { dir, remove } = temporaryDirectory();
      const openStore = (): LmdbEventStore =>
        new LmdbEventStore({ dir, sync, now: Date.now, createdBy: "heddle test", ...options });
      let store = openStore();
      return {
        store,
        async reopen() {
          await store.close();
          store = openStore();
          return store;
        },
        async dispose() {
          await store.close();
          remove();
        },
      };
    },
  });
}

snapshotStoreSuite({
  name: "LmdbSnapshotStore",
  describe,
  it,
  async open() {
    const { dir, remove } = temporaryDirectory();
    const store = new LmdbEventStore({ dir, now: Date.now, createdBy: "heddle test" });
    await store.open(0);
    return {
      snapshots: store.snapshots,
      async dispose() {
        await store.close();
        remove();
      },
    };
  },
});
