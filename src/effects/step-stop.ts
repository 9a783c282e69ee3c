// StepStop: the signal of a task at one attempt of it.
//
// T1  The effect is told at once, and has some time to say what it came to: what it did until then is worth having.
// T2  Nothing of an attempt that is over stays at the signal, which may outlive thousands of them.

import { type Clock, HeddleError, type OpenStep } from "../kernel/index.js";

/** What an effect has to come to an end after it was told to stop. */
const STOP_GRACE_MS = 5_000;

export class StepStop {
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #attempt: AbortController;
  readonly #graceOver: () => void;
  #cancelGrace: (() => void) | undefined;

  /** Aborts `attempt` with the reason of `signal`; calls `graceOver` when that did not end it. */
  constructor(signal: AbortSignal, clock: Clock, attempt: AbortController, graceOver: () => void) {
    this.#signal = signal;
    this.#clock = clock;
    this.#attempt = attempt;
    this.#graceOver = graceOver;
    signal.addEventListener("abort", this.#stop, { once: true });
  }

  readonly #stop = (): void => {
    this.#cancelGrace = this.#clock.after(STOP_GRACE_MS, this.#graceOver);
    this.#attempt.abort(this.#signal.reason);
  };

  /** The attempt is over. (T2) */
  end(): void {
    this.#signal.removeEventListener("abort", this.#stop);
    this.#cancelGrace?.();
  }
}

/**
 * What a step fails with that its task's signal has stopped.
 *
 * @param isUnderWay whether the attempt has begun. The details say it of the step, for those who have to know whether anything was done
 */
export function stopError(
  { stepId, attempt, task }: Pick<OpenStep, "stepId" | "attempt" | "task">,
  isUnderWay: boolean,
): HeddleError {
  const reason: unknown = task.signal?.reason;
  const hasBegun = isUnderWay || attempt > 1;
  return new HeddleError(
    "STEP_STOPPED",
    `Step ${stepId} was stopped by the signal of its task (attempt ${attempt}).`,
    { details: { stepId, attempt, hasBegun }, ...(reason !== undefined && { cause: reason }) },
  );
}
