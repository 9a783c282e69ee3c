// Caution: how partitions run whose thread has ended again and again, so that what ends it is found and left out.
//
// Without it nothing is followed, and nothing costs anything.

/** Where a thread leaves which execution it is at. It is read after the thread's end. */
export interface Footprints {
  stepOn(executionId: string): void;
  stepOff(): void;
  /** Begins a handler of the execution, and follows it through its timers and promises. */
  follow(executionId: string, begin: () => void): void;
}

export interface Caution {
  /** Present: executions go on one by one, so that a footprint tells whose. */
  readonly footprints: Footprints | undefined;
  /** Executions that are not to run again in this process: their threads did not survive it. */
  readonly quarantined: ReadonlySet<string>;
}
