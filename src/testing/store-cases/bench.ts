// What a case of the store suites is given.

import type { EventStore, ExecutionCommit, PartitionLog } from "../../kernel/store/spi.js";

/** Any test runner that knows these two. */
export interface SuiteRunner {
  readonly describe: (title: string, define: () => void) => void;
  readonly it: (title: string, run: () => Promise<void>) => void;
}

export interface StoreUnderTest {
  readonly store: EventStore;
  /** Closes the store and opens what it kept with a new one. Not called unless the store is persistent. */
  readonly reopen: () => Promise<EventStore>;
  /** Closes whatever is open and removes what was kept. */
  readonly dispose: () => Promise<void>;
}

export interface Capabilities {
  /** What was committed outlives the store object. */
  readonly persistent: boolean;
}

/** One test's store, with partition 0 open. */
export interface Bench {
  readonly store: EventStore;
  readonly log: PartitionLog;
  readonly listenerErrors: readonly unknown[];
  readonly underTest: StoreUnderTest;
  readonly commit: (...executions: ExecutionCommit[]) => Promise<void>;
}

/** Runs a case on a fresh store, of one partition unless more are asked for. */
export type Test = (title: string, run: (bench: Bench) => Promise<void>, partitions?: number) => void;
