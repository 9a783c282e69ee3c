// DyingStore: a store whose process ends at one moment of one commit, or of one snapshot.
//
//   { point: "held" }       before the batch is handed over
//   { point: "inCommit" }   handed over; `spinUs` microseconds later, the main thread doing nothing else
//   { point: "visible" }    a reader sees it, and nobody has heard that it is durable; whether it is by then, is chance
//   { point: "durable" }    before the partition hears that it is durable
//   { point: "snapshot" }   the count-th snapshot is handed over
//
// The commit is the `nth` (1 unless it says) of the batches that hold an event of the kinds in `event`, or any event where it names
// none and says `nth`. `then: "hold"` stops there instead of dying: says so and never goes on.

import { writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

const hasEvent = (batch, types) =>
  batch.executions.some(({ record }) => record?.events.some(({ type }) => !types || types.includes(type)));

/** `onBatch` hears of each batch that holds events. */
export function dyingStores({ eventStore, snapshotStore }, die, onBatch = () => {}) {
  const end = () => {
    if (die.then !== "hold") process.kill(process.pid, "SIGKILL");
    writeSync(1, "holding\n");
    return new Promise(() => {});
  };
  let snapshots = 0;
  let batches = 0;
  const nth = die.nth ?? (die.event && 1);
  const commit = async (log, batch) => {
    if (hasEvent(batch)) onBatch();
    if (!hasEvent(batch, die.event) || ++batches !== nth) return log.commit(batch);
    if (die.point === "held") return end();
    const committed = log.commit(batch);
    if (die.point === "inCommit") {
      const until = performance.now() + die.spinUs / 1_000;
      while (performance.now() < until);
      return end();
    }
    if (die.point === "visible") {
      const { id } = batch.executions[0].header;
      const { sequence } = batch.executions[0].record;
      while ((await eventStore.read(id, { from: sequence })).length === 0) await nextTurn();
      return end();
    }
    await committed;
    return die.point === "durable" ? end() : undefined;
  };
  return {
    eventStore: {
      partitions: eventStore.partitions,
      async open(partition) {
        const log = await eventStore.open(partition);
        return {
          partition: log.partition,
          epoch: log.epoch,
          nextKey: log.nextKey,
          commit: (batch) => commit(log, batch),
          lookup: (ids) => log.lookup(ids),
          headers: (keys) => log.headers(keys),
          load: (keys, from) => log.load(keys, from),
          page: (status, after, limit) => log.page(status, after, limit),
          timersDue: (now, limit) => log.timersDue(now, limit),
          nextTimer: (after) => log.nextTimer(after),
          close: () => log.close(),
        };
      },
      read: (id, range) => eventStore.read(id, range),
      find: (id) => eventStore.find(id),
      list: (filter) => eventStore.list(filter),
      subscribe: (id, listener, options) => eventStore.subscribe(id, listener, options),
      close: () => eventStore.close(),
    },
    snapshotStore: {
      save: async (snapshot) => {
        const saved = snapshotStore.save(snapshot);
        if (die.point === "snapshot" && ++snapshots === die.count) return end();
        return saved;
      },
      load: (id) => snapshotStore.load(id),
      delete: (id) => snapshotStore.delete(id),
    },
  };
}
