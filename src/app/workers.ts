// Workers: what can be seen and changed of an app's threads while it runs.

import { invalidWorkers } from "../workers/index.js";
import type { PartitionThreadStats } from "../workers/partitions/stats.js";

export interface WorkersStats {
  /** One for each thread of `workers.actors`; none when partitions run in the host's thread. */
  readonly actors: readonly PartitionThreadStats[];
}

export interface WorkersInspection {
  /** The flows each partition thread found in the module of `workers.app`. */
  readonly actors: readonly { readonly partitions: readonly number[]; readonly flows: readonly string[] }[];
}

export interface AppWorkers {
  stats(): Promise<WorkersStats>;
  inspect(): Promise<WorkersInspection>;
  /** Applies new limits of the effect pool. Not in this version: it is refused, not ignored. */
  tune(limits: unknown): Promise<void>;
}

interface Threads {
  stats(): Promise<PartitionThreadStats[]>;
  inspect(): WorkersInspection["actors"];
}

/** `threads` gives the partition threads, when there are any. */
export function appWorkers(threads: () => Threads | undefined): AppWorkers {
  return {
    stats: async () => ({ actors: (await threads()?.stats()) ?? [] }),
    inspect: async () => ({ actors: threads()?.inspect() ?? [] }),
    tune: async () => {
      throw invalidWorkers("effects", "cannot be tuned in this version of heddle");
    },
  };
}
