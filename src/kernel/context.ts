// The context: everything a flow may do that its log must know. The rest of a flow is plain code.

import type { ExecutableTask, StepDefinition } from "./task.js";

/** Patches of the surfaces an app shows. Each call is one event. */
export interface SurfaceEmitter {
  /** Replaces the value under `key`. */
  set(key: string, value: unknown): void;
  /** Merges the properties of `value` into the object under `key`, one level deep. */
  merge(key: string, value: Readonly<Record<string, unknown>>): void;
  /** Adds `value` to the end of the list under `key`. */
  append(key: string, value: unknown): void;
  /** The same, for one named surface. Without it a patch reaches every surface the app registers. */
  on(surfaceId: string): SurfaceEmitter;
}

/** What a decider is told. */
export interface DecideScope {
  readonly executionId: string;
  readonly decisionId: string;
}

export interface DecideOptions {
  /** Recorded beside the choice, for people who ask why. */
  readonly rationale?: unknown;
  readonly source?: string;
}

export interface SuspendOptions {
  /** The name of the event that will resume the flow. */
  readonly on: string;
  /** Milliseconds. When it passes first, `suspend` throws GATE_TIMED_OUT. Default: wait for ever. */
  readonly timeout?: number;
  /** For whoever dispatches resumes, and to tell apart several open gates of one name. */
  readonly correlationKey?: string;
}

/** A step and its input, or a function that runs part of the flow. */
export type ParallelBranch =
  | readonly [task: { readonly id: string }, input: unknown]
  | (() => Promise<unknown>);

/** Checks a branch's input against its task. */
export type CheckedBranch<B> = B extends readonly [infer Task, infer Input]
  ? Task extends ExecutableTask<infer TIn, infer _TOut>
    ? Input extends TIn
      ? B
      : readonly [Task, TIn]
    : never
  : B;

/** What each branch gives back, in the order of the branches. */
export type ParallelResults<B extends readonly ParallelBranch[]> = {
  -readonly [K in keyof B]: B[K] extends readonly [infer Task, unknown]
    ? Task extends ExecutableTask<infer _TIn, infer TOut>
      ? TOut
      : never
    : B[K] extends () => Promise<infer TOut>
      ? TOut
      : never;
};

export interface ParallelOptions {
  /** At most this many branches at once. Default: all of them. */
  readonly limit?: number;
}

/**
 * The only durability touch-point of a flow. Promises it hands out may be left unawaited; awaiting anything else that
 * does not settle by itself fails the execution with FOREIGN_AWAIT.
 */
export interface ExecutionContext {
  readonly executionId: string;
  readonly workflowId: string;

  /** Runs a task once and records its outcome. Rejects with the recorded failure. */
  execute<TIn, TOut>(task: ExecutableTask<TIn, TOut>, input: NoInfer<TIn>): Promise<TOut>;
  /** `execute` for steps. */
  run<TIn, TOut>(step: StepDefinition<TIn, TOut>, input: NoInfer<TIn>): Promise<TOut>;
  /**
   * Records a choice: the decider is consulted once, replays are served the choice. Each call is a decision of its own;
   * give calls ids that tell them apart, the state shows the last under an id. Usable detached from `ctx`.
   */
  readonly decide: <T>(
    id: string,
    decider: (scope: DecideScope) => T | Promise<T>,
    options?: DecideOptions,
  ) => Promise<T>;
  /**
   * Runs branches side by side and gives their results in order. When one fails, no further branch starts, the started
   * ones are waited for (their results are recorded), and the first failure is thrown.
   */
  parallel<const B extends readonly ParallelBranch[]>(
    branches: B & { readonly [K in keyof B]: CheckedBranch<B[K]> },
    options?: ParallelOptions,
  ): Promise<ParallelResults<B>>;
  /** Parks the execution until somebody resumes it under this name. `T` is a claim: see `resumeSchemas`. */
  suspend<T = never>(options: SuspendOptions): Promise<T>;
  /** Parks the execution for a time in milliseconds; the due time is recorded, so a restart does not begin anew. */
  sleep(durationMs: number): Promise<void>;
  /**
   * Runs a part of the flow that a cancellation does not interrupt, neither one that comes while it runs nor the one that led
   * here: cleanup, or work that must not stop half way. Only what goes through the context it is given is shielded.
   */
  shield<T>(section: (ctx: ExecutionContext) => Promise<T>): Promise<T>;
  /** Records a domain event under its own name. */
  emit(eventType: string, payload: unknown): void;
  /** Records a piece of streamed output. Each call is a lasting event: prefer sentences to tokens. */
  stream(eventType: string, delta: string, done?: boolean): void;
  readonly ui: SurfaceEmitter;

  /** The time of this turn in milliseconds since the epoch, recorded. */
  now(): number;
  /** A number from 0 up to 1, recorded. */
  random(): number;
  /** A version 4 UUID, recorded. */
  uuid(): string;
}

/** An earlier name of the context. */
export type WorkflowContext = ExecutionContext;

/** The surface patches of a flow, of all surfaces or of one. */
export function surface(ctx: Pick<ExecutionContext, "ui">, surfaceId?: string): SurfaceEmitter {
  return surfaceId === undefined ? ctx.ui : ctx.ui.on(surfaceId);
}
