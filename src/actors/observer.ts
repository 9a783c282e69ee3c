// Observer: the host's hooks, called so that nothing they do can hurt an execution (C-EMB-01).

import { type EventEnvelope, envelopesOf, type LogRecord } from "../kernel/index.js";

export interface ObserverHooks {
  /** Each event when it is appended, before it is durable. For progress displays, not for decisions. */
  readonly onEvent?: ((event: EventEnvelope) => void) | undefined;
  /** Each event once it is durable, in the order of its execution. */
  readonly onDurableEvent?: ((event: EventEnvelope) => void) | undefined;
  readonly onWarn?: ((message: string) => void) | undefined;
  /** Failed commits (with the empty id: they concern a partition) and failed snapshots. */
  readonly onStorageError?: ((executionId: string, error: unknown) => void) | undefined;
}

/** What one pass appended to one execution, if anything. */
export interface Written {
  readonly header: { readonly id: string };
  readonly record: LogRecord | undefined;
}

export class Observer {
  readonly #hooks: ObserverHooks;

  constructor(hooks: ObserverHooks) {
    this.#hooks = hooks;
  }

  appended(moves: readonly Written[]): void {
    if (this.#hooks.onEvent) this.#publish(moves, "onEvent", this.#hooks.onEvent);
  }

  durable(moves: readonly Written[]): void {
    if (this.#hooks.onDurableEvent) this.#publish(moves, "onDurableEvent", this.#hooks.onDurableEvent);
  }

  warn(message: string): void {
    this.#contained("onWarn", () => this.#hooks.onWarn?.(message));
  }

  storageError(executionId: string, error: unknown): void {
    this.#contained("onStorageError", () => this.#hooks.onStorageError?.(executionId, error));
  }

  #publish(moves: readonly Written[], hook: string, listener: (event: EventEnvelope) => void): void {
    for (const { header, record } of moves) {
      if (!record) continue;
      for (const envelope of envelopesOf(header.id, record)) this.#contained(hook, () => listener(envelope));
    }
  }

  #contained(hook: string, call: () => unknown): void {
    try {
      const result = call();
      if (result instanceof Promise) result.catch((error: unknown) => this.#report(hook, error));
    } catch (error) {
      this.#report(hook, error);
    }
  }

  #report(hook: string, error: unknown): void {
    if (hook === "onWarn") return; // there is nobody left to tell
    this.warn(`observability.${hook} threw: ${error instanceof Error ? error.message : String(error)}`);
  }
}
