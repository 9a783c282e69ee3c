// System: what is measured here. A module of its own for each, loaded in a process of its own.
//
// Those of others are plain JavaScript in others/, because their packages are installed in that folder only, and on
// demand: no type check and no import of heddle's may reach them. They meet this interface.

import type { Order, Receipt } from "../harness/side.js";

/** What has happened when an execution's result arrives. `flush`: all of it is on the disk; `memory`: nothing is. */
export type Durability = "flush" | "commit" | "memory";

export interface OpenSystem {
  /** Of the system itself, and of the store it uses. */
  readonly version: string;
  readonly durability: Durability;
  /** The settings that say so, as the running system reports them. */
  readonly evidence: string;
  /** What was configured other than by default, and why. */
  readonly configuration: string;
  /** One execution of one step, from its start to its result. */
  run(order: Order): Promise<Receipt>;
  close(): Promise<void>;
}

/** Something it needs is not on this machine. */
export interface Skipped {
  /** What is missing, and what to do about it. */
  readonly skipped: string;
}

export interface OpenOptions {
  /** The most executions that will be asked of it at once. */
  readonly inFlight: number;
  /** Leaves the settings of its store as its packages have them. Otherwise everything is flushed. */
  readonly asItComes: boolean;
}

export interface SystemModule {
  /** `directory` is empty, and removed afterwards. */
  open(directory: string, options: OpenOptions): Promise<OpenSystem | Skipped>;
}
