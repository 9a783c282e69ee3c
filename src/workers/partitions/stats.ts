// What can be seen of partition threads from outside.

import type { PartitionLoad } from "../../actors/index.js";
import type { LoopFigures } from "../loop-figures.js";
import type { PoolInspection, PoolStats } from "../pool/report.js";

/** What a thread says of itself. */
export interface ThreadFigures extends LoopFigures {
  /** Executions at work, and starts that wait for room. */
  readonly executionsAtWork: number;
  readonly startsWaiting: number;
  readonly startsWaitingBytes: number;
  readonly load: PartitionLoad;
  /** Bytes of events on their way to the host's hooks. */
  readonly hookBytes: number;
  /** Of the thread's own pool. */
  readonly effects: PoolStats | undefined;
}

export interface PartitionThreadStats extends Partial<ThreadFigures> {
  /** Its number, from 0. */
  readonly thread: number;
  readonly partitions: readonly number[];
  /** False while it is being started again, and when it is too busy to say how it is: then its own figures are missing. */
  readonly isResponding: boolean;
  readonly restarts: number;
  /** Starts, resumes and cancels without an answer. */
  readonly changesPending: number;
  /** Callers who wait for an execution to get somewhere. */
  readonly callersWaiting: number;
  /** The part of its life its event loop was busy, from 0 to 1. */
  readonly utilisation: number;
}

export interface PartitionThreadInspection {
  readonly partitions: readonly number[];
  /** The flows it found in the module of `workers.app`. */
  readonly flows: readonly string[];
  /** What its pool runs. */
  readonly effects: PoolInspection;
}
