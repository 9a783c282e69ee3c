// Side: what a duel is fought between. heddle is one, the raw baseline another; both do the same work.

export type Sync = "flush" | "commit";

/** The input of every execution. */
export interface Order {
  readonly target: string;
  readonly n: number;
}

/** The output of every step, and of every execution. */
export interface Receipt {
  readonly ok: boolean;
  readonly n: number;
}

export interface Side {
  readonly name: string;
  /** Opens a log in a directory that is empty or that this side closed before. */
  open(directory: string): Promise<Session>;
}

/** A log that is open. */
export interface OpenLog {
  /** Where it is, for whoever counts what is there after `close`. */
  readonly place: Place;
  /** The output of execution `n` as its log holds it, decoded afresh. */
  recorded(n: number): Promise<unknown>;
  /** Everything written is on the disk afterwards, whatever the sync level, so that no sample pays for the one before. */
  close(): Promise<void>;
}

export interface Session extends OpenLog {
  /** Runs execution `n` from its start to its durable end; gives its decoded output. */
  run(n: number): Promise<Receipt>;
}

/** Executions that stop at a gate after their steps. */
export interface ParkedLog extends OpenLog {
  /** Runs execution `n` up to its gate. */
  park(n: number): Promise<void>;
  /** Resumes execution `n`, which takes it to its durable end. */
  resume(n: number): Promise<void>;
  /** Folds the state of execution `n` from its log, and a snapshot where there is one; gives its sequence. */
  state(n: number): Promise<number>;
  /** How many events its log has. */
  events(n: number): Promise<number>;
}

/** An LMDB environment, with one table that has a row a log record and one that has a row an execution. */
export interface Place {
  readonly path: string;
  readonly records: string;
  readonly headers: string;
}

export const orderOf = (n: number): Order => ({ target: "db-1", n });
export const receiptOf = (n: number): Receipt => ({ ok: true, n });
