// FaultyStore: a real store whose owner can be made to suffer: commits that fail or hang, reads that fail. As behind any
// store, nothing is taken after a failed commit until a probe gets through.

import { type CommitBatch, type EventStore, HeddleError, type PartitionLog } from "../../src/kernel/index.js";
import type { Latch } from "./world.js";

export interface Faults {
  /** What every commit fails with, probes too. */
  commit?: Error | undefined;
  /** What every read of the owner fails with. */
  read?: Error | undefined;
  /** Commits wait for it before they are written, or fail. */
  hold?: Latch | undefined;
}

export function withFaults(inner: EventStore, faults: Faults): EventStore {
  return {
    partitions: inner.partitions,
    open: async (partition) => faultyLog(await inner.open(partition), faults),
    read: (id, range) => inner.read(id, range),
    ...(inner.readSync && { readSync: inner.readSync.bind(inner) }),
    find: (id) => inner.find(id),
    list: (filter) => inner.list(filter),
    subscribe: (id, listener, options) => inner.subscribe(id, listener, options),
    close: () => inner.close(),
  };
}

function faultyLog(log: PartitionLog, faults: Faults): PartitionLog {
  let last: Promise<void> = Promise.resolve();
  let isBroken = false;
  const commit = async (batch: CommitBatch): Promise<void> => {
    await faults.hold?.opened;
    if (faults.commit) {
      isBroken = true;
      throw faults.commit;
    }
    if (isBroken && batch.executions.length > 0) throw new HeddleError("STORAGE_FAILED", "Probe first.");
    isBroken = false;
    await log.commit(batch);
  };
  const reading = async <T>(read: () => Promise<T>): Promise<T> => {
    if (faults.read) throw faults.read;
    return read();
  };
  return {
    partition: log.partition,
    epoch: log.epoch,
    nextKey: log.nextKey,
    commit: (batch) => {
      const written = last.then(() => commit(batch));
      last = written.catch(() => {});
      return written;
    },
    lookup: (ids) => reading(() => log.lookup(ids)),
    headers: (keys) => reading(() => log.headers(keys)),
    load: (keys, from) => reading(() => log.load(keys, from)),
    page: (status, after, limit) => reading(() => log.page(status, after, limit)),
    timersDue: (now, limit) => reading(() => log.timersDue(now, limit)),
    nextTimer: (after) => reading(() => log.nextTimer(after)),
    meters: () => reading(() => log.meters()),
    close: () => log.close(),
  };
}

export const diskFull = (): HeddleError => new HeddleError("STORAGE_FAILED", "The disk is full.");
