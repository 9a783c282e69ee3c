// Handle: a caller's view of one execution. It holds no state; each question is answered from what is durable.

import type { ExecutionState } from "../kernel/index.js";
import type { Awaited } from "./watchers.js";

export interface ExecutionHandle<TOut = unknown> {
  readonly executionId: string;
  /**
   * Resolves with the state at the next gate that somebody has to resolve. Rejects with EXECUTION_ENDED when the
   * execution ends without suspending.
   */
  waitForSuspend(): Promise<ExecutionState>;
  /** Resolves with the final state, whatever its status. */
  waitForCompletion(): Promise<ExecutionState>;
  /** Resolves at the first of suspended, completed, failed and cancelled. */
  settled(): Promise<ExecutionState>;
  /** The output of the flow; throws EXECUTION_FAILED (the flow's error is its `cause`) or EXECUTION_CANCELLED. */
  result(): Promise<TOut>;
  /** The state as of now. */
  getState(): Promise<ExecutionState>;
}

/** What a handle needs of the runtime. */
export interface HandleHost {
  watch(executionId: string, awaited: Awaited): Promise<ExecutionState>;
  result(executionId: string): Promise<unknown>;
  loadState(executionId: string): Promise<ExecutionState>;
}

export class RuntimeHandle<TOut> implements ExecutionHandle<TOut> {
  readonly executionId: string;
  readonly #host: HandleHost;

  constructor(executionId: string, host: HandleHost) {
    this.executionId = executionId;
    this.#host = host;
  }

  waitForSuspend(): Promise<ExecutionState> {
    return this.#host.watch(this.executionId, "suspended");
  }

  waitForCompletion(): Promise<ExecutionState> {
    return this.#host.watch(this.executionId, "ended");
  }

  settled(): Promise<ExecutionState> {
    return this.#host.watch(this.executionId, "settled");
  }

  result(): Promise<TOut> {
    return this.#host.result(this.executionId) as Promise<TOut>;
  }

  getState(): Promise<ExecutionState> {
    return this.#host.loadState(this.executionId);
  }
}
