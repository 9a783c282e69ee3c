// What a partition thread answers through Comlink.

import type { KillRecord } from "../../effects/index.js";
import type { Answer } from "../control-line.js";
import type { PoolInspection, TuneOptions } from "../pool/index.js";
import type { ThreadFigures } from "./stats.js";

export interface FlowName {
  readonly id: string;
  readonly version: string;
}

export interface ThreadDescription {
  /** What the module of `workers.app` exports. */
  readonly flows: readonly FlowName[];
}

export interface PartitionControl {
  /** Loads the module. */
  describe(): Promise<Answer<ThreadDescription>>;
  /** Opens and recovers the thread's partitions. */
  open(): Promise<Answer<null>>;
  stats(): Promise<Answer<ThreadFigures>>;
  /** Sets its kill switch. */
  stop(records: readonly KillRecord[]): Promise<Answer<null>>;
  /** What its pool runs. */
  inspect(): Promise<Answer<PoolInspection>>;
  /** New limits of its pool. */
  tune(limits: TuneOptions): Promise<Answer<null>>;
  close(deadlineMs: number): Promise<Answer<null>>;
}
