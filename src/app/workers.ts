// Workers: what can be seen and changed of an app's threads while it runs.

import type { Admission, PartitionLoad } from "../actors/index.js";
import { invalidWorkers } from "../workers/index.js";
// From their files: the types a host sees are to bring no library's with them.
import type { PartitionThreadInspection, PartitionThreadStats } from "../workers/partitions/stats.js";
import type { TuneOptions } from "../workers/pool/options.js";
import type { PoolInspection, PoolStats } from "../workers/pool/report.js";

/** Partitions in the host's own thread. */
export interface HostStats {
  readonly load: PartitionLoad;
  /** Executions at work, and starts that wait for room. */
  readonly executionsAtWork: number;
  readonly startsWaiting: number;
  readonly startsWaitingBytes: number;
}

export interface WorkersStats {
  /** Present when partitions run in the host's thread. */
  readonly host: HostStats | undefined;
  /** One for each thread of `workers.actors`, its pool included. */
  readonly actors: readonly PartitionThreadStats[];
  /** The pool of the host's thread; those of partition threads stand with their threads. */
  readonly effects: PoolStats | undefined;
}

export interface WorkersInspection {
  readonly actors: readonly PartitionThreadInspection[];
  /** What the pool of the host's thread runs. */
  readonly effects: PoolInspection;
}

export interface AppWorkers {
  stats(): Promise<WorkersStats>;
  /** What runs in each effect thread, and since when. */
  inspect(): Promise<WorkersInspection>;
  /**
   * Applies new limits of the effect pool while it runs; what is not named stays.
   *
   * @throws CONFIG_INVALID, naming the option
   */
  tune(limits: TuneOptions): Promise<void>;
}

interface Threads {
  stats(): Promise<PartitionThreadStats[]>;
  inspect(): Promise<PartitionThreadInspection[]>;
  tune(limits: TuneOptions): Promise<void>;
}

interface Pool {
  stats(): Promise<PoolStats | undefined>;
  inspect(): Promise<PoolInspection>;
  tune(limits: TuneOptions): void;
}

export interface WorkerParts {
  readonly load: () => PartitionLoad | undefined;
  readonly admission: Admission;
  /** The pool of the host's thread. */
  readonly pooled: Pool | undefined;
  /** Whether `workers.effects` is there, wherever its pools are. */
  readonly hasPool: boolean;
  /** The partition threads, when there are any. */
  readonly threads: () => Threads | undefined;
}

export function appWorkers({ load, admission, pooled, hasPool, threads }: WorkerParts): AppWorkers {
  return {
    async stats() {
      const here = load();
      const { inFlight, waiting, waitingBytes } = admission;
      return {
        host: here && {
          load: here,
          executionsAtWork: inFlight,
          startsWaiting: waiting,
          startsWaitingBytes: waitingBytes,
        },
        actors: (await threads()?.stats()) ?? [],
        effects: await pooled?.stats(),
      };
    },
    inspect: async () => ({
      actors: (await threads()?.inspect()) ?? [],
      effects: (await pooled?.inspect()) ?? [],
    }),
    async tune(limits) {
      if (pooled) return pooled.tune(limits);
      const partitions = threads();
      if (partitions && hasPool) return partitions.tune(limits);
      throw invalidWorkers("effects", "names no module, so there is no pool to tune");
    },
  };
}
