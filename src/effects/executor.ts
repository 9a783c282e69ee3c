// EffectExecutor: the seam through which actors run effects, wherever that is. Outcomes are data; an executor never
// throws at an actor and settles every dispatch exactly once.

import type { ExecutableTask, Wire } from "../kernel/index.js";
import type { EffectContext, Elsewhere } from "./effect.js";
import type { Exceeded, Refusal } from "./quota/refusal.js";

/** One attempt of one step, ready to run, its request being durable; also the context its effect is given. */
export interface Invocation extends EffectContext {
  readonly task: ExecutableTask;
  readonly input: Wire;
  /** Whether its signal is aborted; asking makes no signal. */
  readonly isAborted: boolean;
  /** For the executor to set, while something stands between the attempt and its effect: then that has not begun. */
  isHeld: boolean;
  /** Takes what the attempt came to after all, when it was settled before that, by its time limit or by its abort. */
  settleLate(outcome: LateOutcome): void;
}

/** What came of an attempt that nobody waits for any more. */
export type LateOutcome = { readonly kind: "completed" } | { readonly kind: "failed"; readonly error: Wire };

export type Outcome =
  /** It stopped because its signal was aborted. */
  | { readonly kind: "aborted" }
  /** It may have done its work and may not be repeated. */
  | { readonly kind: "inDoubt"; readonly error: Wire }
  /** A budget did not let it through: the effect did not run. */
  | { readonly kind: "overBudget"; readonly refusal: Refusal; readonly error: Wire }
  | { readonly kind: "completed"; readonly output: Wire }
  | {
      readonly kind: "failedOnChannel";
      readonly channel: string;
      readonly payload: Wire;
      readonly error: Wire;
    }
  | {
      readonly kind: "failed";
      readonly error: Wire;
      /** Whether the step's policy may make another attempt. */
      readonly retryable: boolean;
      /** Not before so many milliseconds from now, says the failure. */
      readonly retryAfterMs?: number | undefined;
      /** Another attempt was asked for, after so many milliseconds: the step's policy is not asked. */
      readonly retryInMs?: number | undefined;
      /** The budget over which it was cut off while it ran. */
      readonly exceeded?: Exceeded | undefined;
    };

export interface EffectExecutor {
  /** Whether the task may run again when it is not known whether it has run. Absent: what the task says, or else yes. */
  mayRepeat?(task: ExecutableTask): boolean;
  dispatch(invocation: Invocation, settle: (outcome: Outcome) => void): void;
  /**
   * Where the invocation is served, if that is not this thread. What there is no room for keeps its place in the log, where
   * its request is durable, and takes no memory.
   */
  elsewhere?(invocation: Invocation): Elsewhere | undefined;
}
