// What programs may ask of executions, and what they may say with each question.

import type { Principal } from "../effects/index.js";
import type { ExecutionHeader, ExecutionState, ListFilter, RegisteredFlow } from "../kernel/index.js";
import type { ExecutionHandle } from "./handle.js";
import type { InDoubtVerdict } from "./in-doubt.js";
import type { ResumeRequest } from "./messages.js";

export interface StartOptions {
  /** Names the execution. Starting it again with the same flow and input attaches; anything else is a conflict. */
  readonly executionId?: string;
  /** Who it acts for: authorizers and effects are told. It is kept in the log, where no reader shows it. */
  readonly principal?: Principal;
  /**
   * Milliseconds from when it begins. Then it is cancelled, with the code DEADLINE_EXCEEDED, unless it has ended; a restart does
   * not begin anew. Default: the flow's own `deadlineMs`.
   */
  readonly deadlineMs?: number;
  /** Who asks, where that is not whom it acts for. Default: `principal`. */
  readonly caller?: Principal;
}

/** Who asks: told to `security.executionAuthorizer`, and to nobody else. */
export interface CallerOptions {
  readonly principal?: Principal;
}

export interface ResumeOptions extends CallerOptions {
  /** What `security.resumeAuthenticator` is shown. Never recorded. */
  readonly credentials?: unknown;
}

export interface CancelOptions extends CallerOptions {
  /** Ends it at once, whatever its flow is at: for cleanup that does not end, and for what is set aside. Default false. */
  readonly force?: boolean;
}

/** The runtime's doors, where a caller says who it is with each call. */
export interface ExecutionDoors {
  start<TIn, TOut>(
    flow: RegisteredFlow<TIn, TOut>,
    input: NoInfer<TIn>,
    options?: StartOptions,
  ): Promise<ExecutionHandle<TOut>>;
  resume(executionId: string, request: ResumeRequest, options?: ResumeOptions): Promise<ExecutionHandle>;
  resolveInDoubt(
    executionId: string,
    stepId: string,
    verdict: InDoubtVerdict,
    options?: CallerOptions,
  ): Promise<void>;
  cancel(executionId: string, reason?: string, options?: CancelOptions): Promise<void>;
  handle(executionId: string, options?: CallerOptions): ExecutionHandle;
  loadState(executionId: string, options?: CallerOptions): Promise<ExecutionState>;
  list(filter?: ListFilter, options?: CallerOptions): Promise<ExecutionHeader[]>;
}
