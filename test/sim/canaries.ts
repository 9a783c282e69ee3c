// Canaries: rules broken on purpose, one at a time. What the simulator does not notice it does not watch.

import type { Move } from "../../src/actors/actor.js";
import { StateReader } from "../../src/actors/state-reader.js";
import type { EffectExecutor } from "../../src/effects/index.js";
import {
  type ExecutionEvent,
  HeddleError,
  type LogRecord,
  type PartitionLog,
} from "../../src/kernel/index.js";
import type { CommitBatch, ExecutionCommit } from "../../src/kernel/store/spi.js";
import { SimDisk } from "../../src/testing/sim/disk.js";
import type { Tamper } from "../../src/testing/sim/sim-store.js";

export interface Canary {
  readonly breaks: string;
  /** The rules that may be the first to notice. */
  readonly noticedAs: readonly string[];
  readonly tamper?: Tamper;
  /** Changes the code itself; gives the way back. */
  readonly plant?: () => () => void;
}

export const CANARIES: readonly Canary[] = [
  {
    breaks: "an effect is dispatched before its request is flushed",
    noticedAs: ["E1", "C2"],
    tamper: { log: early(({ dispatches }) => dispatches.length > 0) },
  },
  {
    breaks: "a caller is answered before what was asked for is flushed",
    noticedAs: ["C1", "C2"],
    tamper: { log: early(({ replies, dispatches }) => replies.length > 0 && dispatches.length === 0) },
  },
  {
    breaks: "recorded outcomes are delivered out of their order",
    noticedAs: ["divergence", "result", "C3"],
    tamper: { log: restoring(swapOutcomes) },
  },
  {
    breaks: "an outcome is forgotten after a crash",
    noticedAs: ["E2", "E3", "L1", "L2", "C3"],
    tamper: { log: restoring(forgetOutcome) },
  },
  {
    breaks: "a timer is not armed",
    noticedAs: ["stall"],
    tamper: { log: writing((commit) => ({ ...commit, arm: commit.arm.slice(1) })) },
  },
  {
    breaks: "a timer fires early",
    noticedAs: ["L4"],
    tamper: { log: (log) => changed(log, { timersDue: (now, limit) => log.timersDue(now + 60_000, limit) }) },
  },
  {
    breaks: "an attempt is counted twice",
    noticedAs: ["L3"],
    tamper: {
      log: recording((event) =>
        event.type === "STEP_RETRIED" ? [{ ...event, attempt: event.attempt + 1 }] : [event],
      ),
    },
  },
  {
    breaks: "a request is given two outcomes",
    noticedAs: ["L2"],
    tamper: { log: recording((event) => (event.type === "STEP_COMPLETED" ? [event, event] : [event])) },
  },
  {
    breaks: "an output is recorded that no effect gave",
    noticedAs: ["E4"],
    tamper: {
      log: recording((event) =>
        event.type === "STEP_COMPLETED" ? [{ ...event, output: "invented" }] : [event],
      ),
    },
  },
  {
    breaks: "what may not be repeated is run again when it was cut short",
    noticedAs: ["E3"],
    tamper: {
      executor: (executor): EffectExecutor => ({
        dispatch: (invocation, settle) => executor.dispatch(invocation, settle),
        mayRepeat: () => true,
      }),
    },
  },
  {
    breaks: "the epoch of a writer is not looked at",
    noticedAs: ["W1", "L1"],
    plant: () => {
      const { owns } = SimDisk.prototype;
      SimDisk.prototype.owns = () => true;
      return () => {
        SimDisk.prototype.owns = owns;
      };
    },
  },
  {
    breaks: "a snapshot is made of what is not flushed",
    noticedAs: ["C5"],
    plant: () => {
      const { checkpoint } = StateReader.prototype;
      StateReader.prototype.checkpoint = function (log, execution) {
        return checkpoint.call(this, log, execution, Infinity);
      };
      return () => {
        StateReader.prototype.checkpoint = checkpoint;
      };
    },
  },
];

// ── Ways to break them ──────────────────────────────────────────────────────────────────────────────────────────

function changed(log: PartitionLog, changes: Partial<PartitionLog>): PartitionLog {
  return {
    partition: log.partition,
    epoch: log.epoch,
    nextKey: log.nextKey,
    commit: (batch) => log.commit(batch),
    lookup: (ids) => log.lookup(ids),
    headers: (keys) => log.headers(keys),
    load: (keys, from) => log.load(keys, from),
    page: (status, after, limit) => log.page(status, after, limit),
    timersDue: (now, limit) => log.timersDue(now, limit),
    nextTimer: (after) => log.nextTimer(after),
    meters: () => log.meters(),
    close: () => log.close(),
    ...changes,
  };
}

/** Answers for a commit at once when one of its moves is like this. */
function early(isLike: (move: Move) => boolean) {
  return (log: PartitionLog): PartitionLog =>
    changed(log, {
      commit: async (batch) => {
        const committed = log.commit(batch);
        if (!(batch.executions as readonly Move[]).some(isLike)) return committed;
        committed.catch(() => {});
      },
    });
}

function writing(write: (commit: ExecutionCommit) => ExecutionCommit) {
  return (log: PartitionLog): PartitionLog =>
    changed(log, {
      commit: (batch: CommitBatch) => log.commit({ ...batch, executions: batch.executions.map(write) }),
    });
}

function recording(record: (event: ExecutionEvent) => readonly ExecutionEvent[]) {
  return writing((commit) => ({
    ...commit,
    record: commit.record && { ...commit.record, events: commit.record.events.flatMap(record) },
  }));
}

function restoring(restore: (events: ExecutionEvent[]) => void) {
  return (log: PartitionLog): PartitionLog =>
    changed(log, {
      load: async (keys, from) =>
        (await log.load(keys, from)).map((found) =>
          found instanceof HeddleError ? found : remade(found, restore),
        ),
    });
}

/** Records with the same events, one a record, but for what was changed of them. */
function remade(records: readonly LogRecord[], change: (events: ExecutionEvent[]) => void): LogRecord[] {
  const [first] = records;
  if (!first) return [];
  const events = records.flatMap((record) => record.events);
  const { timestamp } = records.at(-1)!;
  change(events);
  return events.map((event, index) => ({ sequence: first.sequence + index, timestamp, events: [event] }));
}

function swapOutcomes(events: ExecutionEvent[]): void {
  const outcomes = [...events.keys()].filter((at) => events[at]!.type === "STEP_COMPLETED");
  const [first, second] = outcomes;
  if (first === undefined || second === undefined) return;
  [events[first], events[second]] = [events[second]!, events[first]!];
}

function forgetOutcome(events: ExecutionEvent[]): void {
  const at = events.findLastIndex(({ type }) => type === "STEP_COMPLETED");
  if (at === events.length - 1) events.pop();
}
