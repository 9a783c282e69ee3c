import { describe, it } from "vitest";
import {
  type EventStore,
  type ExecutionEvent,
  LmdbEventStore,
  MemoryContentStore,
  MemoryEventStore,
  partitionOf,
} from "../../src/kernel/index.js";
import { contentStoreSuite } from "../../src/testing/index.js";
import { ScriptedExecution } from "../../src/testing/scripted-execution.js";
import { temporaryDirectory } from "../kernel/store/temporary-directory.js";

/** Records events of executions that are started when they are first named. */
async function recorder(
  store: EventStore,
): Promise<(id: string, events: readonly ExecutionEvent[]) => Promise<void>> {
  const logs = await Promise.all(Array.from({ length: store.partitions }, (_, i) => store.open(i)));
  const known = new Map<string, ScriptedExecution>();
  return async (id, events) => {
    const log = logs[partitionOf(id, store.partitions)]!;
    let execution = known.get(id);
    if (!execution) {
      execution = new ScriptedExecution(known.size, id);
      known.set(id, execution);
      await log.commit({ executions: [execution.start("in")] });
    }
    await log.commit({ executions: [execution.append([...events])] });
  };
}

function clock() {
  let now = 1_700_000_000_000;
  return { now: () => now, pass: (milliseconds: number) => void (now += milliseconds) };
}

for (const partitions of [1, 3]) {
  contentStoreSuite({
    name: `LmdbContentStore, ${partitions} partitions`,
    describe,
    it,
    async open() {
      const { dir, remove } = temporaryDirectory();
      const { now, pass } = clock();
      const store = new LmdbEventStore({ dir, partitions, now, createdBy: "heddle test", sync: "commit" });
      return {
        content: store.content,
        record: await recorder(store),
        pass,
        async dispose() {
          await store.close();
          remove();
        },
      };
    },
  });
}

contentStoreSuite({
  name: "MemoryContentStore",
  describe,
  it,
  async open() {
    const { now, pass } = clock();
    const content = new MemoryContentStore({ now });
    const store = new MemoryEventStore({ content });
    return { content, record: await recorder(store), pass, dispose: () => store.close() };
  },
});
