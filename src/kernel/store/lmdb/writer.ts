// Writer: the one path by which anything gets into an environment.
//
// Owns       the order of writes, and whether one has failed.
// Leaves     what is written to its callers, who may write at all to ownership.ts.
// Talks to   one root database of lmdb-js.
//
// W1  A change is one LMDB transaction: it is seen whole or not at all, also when it throws half-way.
// W2  One change is under way at a time. Were the next handed over early, it could succeed after this one failed, and
//     the log would have a hole.
// W3  `write` resolves when the change is durable. With `flush` that is on the disk: it survives a loss of power.
//     Without, it is with the operating system: it survives the death of the process, at any point; a crash of the
//     machine may lose it, and with it the whole environment, because nothing orders what reaches the disk.
// W4  After a failed write nothing more is taken until a probe gets through. What failed is not in the log, with one
//     exception no store can rule out: when the disk refuses to flush, the change may be found there all the same.
//     A change that no later one builds on (content) is different: when it fails, the next of any kind is taken, if the
//     environment can still be written to.
// W5  A failed write is one rejection of one promise: no unhandled rejection, no wait that never ends.

import { setImmediate as nextTurn } from "node:timers/promises";
import { HeddleError } from "../../errors.js";
import { refusedAfter, storeClosed } from "../commit-failure.js";
import { closeForWriting, type Environment } from "./environment.js";
import { OWNER_KEY } from "./keys.js";
import type { Table } from "./lmdb-rows.js";
import type { OpeningGuard } from "./opening-guard.js";

export class Writer {
  readonly #environment: Environment;
  readonly #flush: boolean;
  readonly #guard: OpeningGuard;
  #last: Promise<void> | undefined;
  #failure: unknown;
  /** Whether the write under way is one beside the log. */
  #isBeside = false;
  /** Whether the last of those failed. */
  #isShaken = false;
  #closing: Promise<void> | undefined;

  constructor(environment: Environment, flush: boolean, guard: OpeningGuard) {
    this.#environment = environment;
    this.#flush = flush;
    this.#guard = guard;
  }

  get environment(): Environment {
    return this.#environment;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  get path(): string {
    return this.#environment.path;
  }

  /** Refuses every later write: for a change that was found wrong before it was handed over. */
  poison(failure: unknown): void {
    this.#failure ??= failure;
  }

  write(change: () => void): Promise<void> {
    return this.#inTurn(async () => {
      this.#checkTaken();
      await this.#guarded(() => this.#commitUsable(change));
    });
  }

  /** The same for what stands beside the log. (W4) */
  writeBeside(change: () => void): Promise<void> {
    return this.#inTurn(async () => {
      this.#checkTaken();
      await this.#guarded(async () => {
        this.#isBeside = true;
        try {
          await this.#commitUsable(change);
        } catch (error) {
          this.#isShaken = true;
          throw error;
        } finally {
          this.#isBeside = false;
        }
      });
    });
  }

  #checkTaken(): void {
    if (this.#failure !== undefined) throw refusedAfter(this.#failure, this.path); // W4
  }

  async #commitUsable(change: () => void): Promise<void> {
    if (this.#failure !== undefined || this.#isShaken) this.#checkUsable();
    this.#isShaken = false;
    await this.#commit(change);
  }

  /** Writes a change that says nothing new. When it gets through after a failure, changes are taken again. */
  probe(change: () => void): Promise<void> {
    return this.#inTurn(async () => {
      await this.#guarded(async () => {
        await this.#commitUsable(change);
      });
      this.#failure = undefined;
    });
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    if (this.#closing) return Promise.reject(storeClosed(this.path));
    const before = this.#last;
    const written = before ? before.then(task) : task(); // W2
    const settled = written.then(ignore, ignore).then(() => {
      if (this.#last === settled) this.#last = undefined;
    });
    this.#last = settled;
    return written;
  }

  /** Nobody opens the environment while it is written to: see opening-guard.ts. */
  async #guarded(task: () => Promise<void>): Promise<void> {
    const waiting = this.#guard.enter();
    if (waiting) await waiting;
    try {
      await task();
    } finally {
      this.#guard.leave();
    }
  }

  /** Waits for the writes under way, then closes the environment. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #commit(change: () => void): Promise<void> {
    const { root } = this.#environment;
    let thrown: unknown;
    // Written as a whole once the last operation is in it (environment.ts). (W1)
    const committed = root.batch(() => {
      try {
        change();
      } catch (error) {
        thrown = error;
        this.#spoilTransaction();
      }
    });
    // lmdb-js promises resolve at commit, and which flush belongs to it can only be asked in this turn. (W3) After a
    // failure the flush never comes, and is not waited for.
    const flushed = this.#flush ? root.flushed.then(ignore, ignore) : undefined;
    try {
      await committed;
    } catch (error) {
      const failure = await this.#fail(error); // W4
      throw thrown instanceof Error ? thrown : failure;
    }
    await flushed;
  }

  /**
   * lmdb-js knows no way back for operations that are queued, and commits them also when their batch throws. So one more
   * is queued, for a table there is not: it fails the transaction, and LMDB drops all of it.
   */
  #spoilTransaction(): void {
    const nowhere = Object.create(this.#environment.tables.owner, {
      db: { value: { dbi: NO_TABLE } },
    }) as Table;
    void nowhere.remove(OWNER_KEY);
  }

  /** An environment whose meta page could not be written is beyond use; lmdb-js would never answer a write to it. (W5) */
  #checkUsable(): void {
    try {
      this.#environment.root.transactionSync(() => undefined);
    } catch (cause) {
      throw this.#failed(cause);
    }
  }

  async #fail(error: unknown): Promise<HeddleError> {
    return this.#failed(await nativeCause(error));
  }

  #failed(cause: unknown): HeddleError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const failure = new HeddleError(
      "STORAGE_FAILED",
      `${this.path} could not commit: ${reason}. What was acknowledged before is safe. ` +
        "Make room if the disk is full; if writing does not work again then, close the directory and open it anew.",
      { cause, details: { path: this.path } },
    );
    if (!this.#isBeside) this.#failure = failure;
    return failure;
  }

  async #close(): Promise<void> {
    await this.#last;
    await this.#guard.enter();
    const { root } = this.#environment;
    if (this.#failure !== undefined || this.#isShaken) {
      // lmdb-js waits for all flushes before it closes, also for the one that a failed commit left pending for ever.
      // Nothing is under way any more, so its way of waiting is taken away. (W5)
      Object.defineProperty(root, "_endWrites", { value: undefined });
    } else if (!this.#flush) {
      await new Promise<void>((resolve) => (root as unknown as Syncing).sync(() => resolve()));
    }
    try {
      await closeForWriting(this.#environment);
    } finally {
      this.#guard.close(); // gives the lock back
    }
  }
}

const NO_TABLE = 0xffff;

interface Syncing {
  sync(done: (error: unknown) => void): void;
}

/** A failed commit rejects twice: the promise of the write, and a second one, in its error, with the real reason. */
async function nativeCause(error: unknown): Promise<unknown> {
  const commitError = error instanceof Error && (error as { commitError?: unknown }).commitError;
  if (!(commitError instanceof Promise)) return error;
  let cause: unknown = error;
  commitError.catch((reason: unknown) => {
    cause = reason;
  });
  // It follows in the same callback of lmdb-js, if it comes at all.
  await nextTurn();
  return cause;
}

function ignore(): void {}
