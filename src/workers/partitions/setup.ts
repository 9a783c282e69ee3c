// What a partition thread is given to start with. It crosses by structured clone, so it is plain data and two ports.

import type { MessagePort } from "node:worker_threads";
import type { AdmissionOptions } from "../../actors/index.js";
import type { Budget } from "../../effects/index.js";
import type { SealingKeyRing, ValueLimits } from "../../kernel/index.js";

export interface ThreadSettings {
  /** Of the packets: both ends are of one build. */
  readonly format: number;
  /** URL of the module whose flows and effects run here. */
  readonly app: string;
  readonly storage: {
    readonly dir: string;
    /** Of the whole directory. */
    readonly partitions: number;
    readonly sync: "flush" | "commit" | undefined;
    readonly createdBy: string;
    /** Whether there was content in any partition, those of other threads among them. */
    readonly hasContent: boolean;
  };
  /** Which partitions run here. */
  readonly numbers: readonly number[];
  readonly limits: ValueLimits;
  /** `security.sealingKey`. It crosses in memory and is written nowhere. */
  readonly sealingKeys: SealingKeyRing | undefined;
  readonly snapshotEvery: number | undefined;
  readonly maxResident: number;
  readonly admission: AdmissionOptions;
  /** `execution.envelope.budgets`; undefined: nothing is counted. */
  readonly budgets: readonly Budget[] | undefined;
  /** Whether the app has a kill switch, which this thread's is set to. */
  readonly hasKillSwitch: boolean;
  /** `security.strict` */
  readonly strict: boolean;
  /** What the deaths of earlier threads have taught. */
  readonly caution: {
    readonly footprints: SharedArrayBuffer | undefined;
    readonly quarantined: readonly string[];
  };
  /** Which hooks the host has. */
  readonly hooks: { readonly onEvent: boolean; readonly onDurableEvent: boolean };
  /** `workers.effects` with URLs as text, for the pool of this thread. */
  readonly effects: PoolSettings | undefined;
}

export type PoolSettings = Readonly<Record<string, unknown>> & {
  readonly module: string;
  readonly entry?: string | undefined;
};

export interface ThreadSetup extends ThreadSettings {
  readonly packets: MessagePort;
  readonly control: MessagePort;
}
