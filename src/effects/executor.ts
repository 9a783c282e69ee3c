// EffectExecutor: the seam through which actors run effects, wherever that is. Outcomes are data; an executor never
// throws at an actor and settles every dispatch exactly once.

import type { ExecutableTask, Wire } from "../kernel/index.js";

/** One attempt of one step, ready to run: its request is durable. `signal` and key may be made when asked for. */
export interface Invocation {
  readonly executionId: string;
  readonly workflowId: string;
  readonly stepId: string;
  readonly task: ExecutableTask;
  readonly input: Wire;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** Records a domain event of this attempt, unless the attempt is over. */
  readonly emit: (name: string, payload: unknown) => void;
}

export type Outcome =
  | { readonly kind: "completed"; readonly output: Wire }
  | { readonly kind: "failedOnChannel"; readonly channel: string; readonly payload: Wire; readonly error: Wire }
  | { readonly kind: "failed"; readonly error: Wire; readonly retryable: boolean };

export interface EffectExecutor {
  dispatch(invocation: Invocation, settle: (outcome: Outcome) => void): void;
}
