// Attempts: what one execution has under way of its steps. Each outcome becomes an event here, or another attempt, or a doubt.
//
// T1  An attempt leaves only with a move, so its request is durable when it begins.
// T2  An outcome counts while its attempt is the one under way for its step; what comes after that is late, and recorded as such.
// T3  What an attempt used is recorded with what it came to, or by itself where nothing else is recorded of it.
// T4  After a restart the index of timers alone tells an attempt that was never dispatched from one that was cut off.

import { type Outcome, stopError } from "../effects/index.js";
import {
  type EventOf,
  type ExecutableTask,
  type ExecutionEvent,
  failureToWire,
  type HeddleError,
  type IssuedSteps,
  LeanMap,
  type OpenStep,
  type OutcomeEvent,
  type Secrecy,
  type Used,
  type Wire,
} from "../kernel/index.js";
import { stepDeadlineError } from "./deadline.js";
import { InFlight } from "./in-flight.js";
import { retryDelay } from "./retry.js";
import { Stops } from "./stops.js";
import { RETRY_TIMER, STEP_DEADLINE_TIMER } from "./timer-names.js";

/** The execution whose attempts these are, as far as they need it. */
export interface AttemptOwner {
  readonly id: string;
  /** Of its present run. */
  readonly steps: IssuedSteps | undefined;
  readonly secrecy: Secrecy;
  /** Makes an attempt of a step, which tells the owner what it has to say beside its outcome. */
  attemptOf(step: OpenStep): InFlight;
  append(event: ExecutionEvent): void;
  /** Appends an outcome and hands it to the flow. */
  deliver(outcome: OutcomeEvent, now: number): true;
  /** Lets an attempt go once what led to it is durable. */
  dispatch(attempt: InFlight): void;
  arm(wakeAt: number, timerId: string): void;
  disarm(wakeAt: number, timerId: string): void;
  /** Whether a due timer is among the messages that wait. */
  isTimerHere(wakeAt: number, timerId: string): boolean;
  /** Whether what ends this step is on its way: then no further attempt is made. */
  isOutOfTime(step: OpenStep, now: number): boolean;
  /** Whether a task may run again when it is not known whether it has run. */
  mayRepeat(task: ExecutableTask): boolean;
  /** What is to be recorded of an attempt whose account was lost with its process; undefined where nobody counts. */
  useOfLost(now: number): Used | undefined;
  /** The signal of an open step's task was aborted. */
  noteStop(stepId: string): void;
  /** A budget ends the execution. */
  endOverBudget(error: Wire, now: number): void;
}

type OverBudget = Extract<Outcome, { readonly kind: "overBudget" }>;
type Failed = Extract<Outcome, { readonly kind: "failed" }>;

export class Attempts {
  readonly #owner: AttemptOwner;
  readonly #underWay = new LeanMap<InFlight>();
  /** Of open steps whose tasks have signals. */
  #stops: Stops | undefined;

  constructor(owner: AttemptOwner) {
    this.#owner = owner;
  }

  get count(): number {
    return this.#underWay.size;
  }

  has(stepId: string): boolean {
    return this.#underWay.has(stepId);
  }

  /** Whether this very attempt is still the one whose outcome counts. (T2) */
  awaits(attempt: InFlight): boolean {
    return this.#underWay.get(attempt.stepId) === attempt;
  }

  /** Prepares an attempt. (T1) */
  request(step: OpenStep): void {
    const attempt = this.#owner.attemptOf(step);
    this.#underWay.set(step.stepId, attempt);
    this.#watchStop(step);
    this.#owner.dispatch(attempt);
  }

  /** Takes what an attempt came to. Returns whether the flow was moved by it. */
  settled(attempt: InFlight, outcome: Outcome, now: number): boolean {
    const { stepId } = attempt;
    if (!this.awaits(attempt)) {
      if (attempt.isCalledOff) attempt.noteLate(outcome); // T2
      return false;
    }
    this.#underWay.delete(stepId);
    const step = this.#owner.steps?.open(stepId);
    if (!step) return false;
    const used = attempt.account?.close(now);
    switch (outcome.kind) {
      case "aborted":
        this.#recordUse(attempt, used);
        return false; // whoever aborts an attempt has given it up
      case "completed":
        return this.settle(step, { type: "STEP_COMPLETED", stepId, output: outcome.output, used }, now);
      case "failedOnChannel": {
        const { error, channel, payload } = outcome;
        return this.settle(step, { type: "STEP_FAILED", stepId, error, channel, payload, used }, now);
      }
      case "inDoubt":
        this.#recordUse(attempt, used);
        this.#doubt(step, outcome.error);
        return false;
      case "overBudget":
        return this.#overBudget(step, outcome, now);
      case "failed":
        return this.#failed(step, attempt, outcome, used, now);
    }
  }

  #failed(step: OpenStep, attempt: InFlight, outcome: Failed, used: Used | undefined, now: number): boolean {
    const { stepId } = step;
    const { error, exceeded } = outcome;
    if (exceeded) this.#owner.append({ type: "QUOTA_EXCEEDED", stepId, ...exceeded });
    const delay = retryDelay(step, outcome, `${this.#owner.id}/${stepId}`);
    if (delay === undefined) return this.#fail(step, error, now, used);
    this.#recordUse(attempt, used);
    const dueAt = now + delay;
    this.#retry({ type: "STEP_RETRIED", stepId, attempt: step.attempt + 1, reason: "failed", dueAt, error });
    this.#owner.arm(dueAt, RETRY_TIMER + stepId);
    return false;
  }

  #overBudget(step: OpenStep, { refusal, error }: OverBudget, now: number): boolean {
    const { stepId, attempt } = step;
    const { scope, meter, limit, used, onExceeded, opensAt } = refusal;
    if (onExceeded === "throttle") {
      // It has not begun: the next one has its number, and no failure is counted.
      const dueAt = opensAt ?? now;
      this.#retry({ type: "STEP_RETRIED", stepId, attempt, reason: "throttled", dueAt, error });
      this.#owner.arm(dueAt, RETRY_TIMER + stepId);
      return false;
    }
    this.#owner.append({ type: "QUOTA_EXCEEDED", stepId, scope, meter, limit, used });
    if (onExceeded === "reject") return this.#fail(step, error, now);
    this.#owner.endOverBudget(error, now);
    return false;
  }

  /** The signal of a step was aborted. What runs is told by its executor, and says itself what it came to. */
  stopped(stepId: string, now: number): boolean {
    const step = this.#owner.steps?.open(stepId);
    if (!step || step.inDoubt || this.#underWay.get(stepId)?.isDispatched) return false;
    const failure = stopError(step, false);
    this.callOff(step, failure, now);
    return this.#owner.deliver(failed(stepId, this.#owner.secrecy.failure(failure)), now);
  }

  /** No attempt is made any more. Where one may have done its work and may not be repeated, only somebody else can say. */
  deadlinePassed(stepId: string, wakeAt: number, now: number): boolean {
    const step = this.#owner.steps?.open(stepId);
    if (step?.deadlineAt !== wakeAt || step.inDoubt) return false;
    const attempt = this.#underWay.get(stepId);
    const mayHaveRun = attempt ? attempt.mayHaveRun : !this.#isWaiting(step, now);
    const failure = stepDeadlineError(step);
    const error = failureToWire(failure);
    this.callOff(step, failure, now);
    if (mayHaveRun && !this.#owner.mayRepeat(step.task)) {
      this.#doubt(step, error);
      return false;
    }
    return this.#owner.deliver(failed(stepId, error), now);
  }

  retryDue(stepId: string, wakeAt: number): void {
    const step = this.#owner.steps?.open(stepId);
    if (step?.retryAt === wakeAt && !this.#underWay.has(stepId)) this.request(step);
  }

  /** The log is used up: what was in flight when it was written has to be seen to again. */
  seeToOpenSteps(now: number): void {
    for (const step of this.#owner.steps?.allOpen() ?? []) {
      const { stepId, retryAt } = step;
      if (this.#underWay.has(stepId) || step.inDoubt) continue;
      this.#watchStop(step);
      if (this.#isWaiting(step, now)) {
        if (retryAt !== undefined && retryAt > now) this.#owner.arm(retryAt, RETRY_TIMER + stepId);
        continue;
      }
      // It may have run, or not: its request was durable, its outcome is not there. It counts as a call, and runs again with
      // the same key, unless it may not or there is no time left.
      this.#recordUse(step, this.#owner.useOfLost(now));
      if (this.#owner.isOutOfTime(step, now)) continue;
      if (this.#owner.mayRepeat(step.task)) this.repeat(step, "recovered", now);
      else this.#doubt(step, undefined);
    }
  }

  /** Whether a step with no attempt under way waits for its next one, which then was not dispatched. (T4) */
  #isWaiting({ stepId, retryAt }: OpenStep, now: number): boolean {
    return retryAt !== undefined && (retryAt > now || this.#owner.isTimerHere(retryAt, RETRY_TIMER + stepId));
  }

  repeat(step: OpenStep, reason: "recovered" | "verdict", now: number): void {
    const { stepId, attempt } = step;
    this.#retry({ type: "STEP_RETRIED", stepId, attempt: attempt + 1, reason, dueAt: now, error: undefined });
    this.request(step);
  }

  settle(
    { stepId, deadlineAt }: OpenStep,
    outcome: EventOf<"STEP_COMPLETED" | "STEP_FAILED">,
    now: number,
  ): boolean {
    this.#stops?.unwatch(stepId);
    if (deadlineAt !== undefined) this.#owner.disarm(deadlineAt, STEP_DEADLINE_TIMER + stepId);
    return this.#owner.deliver(outcome, now);
  }

  #fail(step: OpenStep, error: Wire, now: number, used?: Used): boolean {
    return this.settle(step, failed(step.stepId, error, used), now);
  }

  /** Gives a step up: no timer of it is left, and its attempt counts no more. */
  callOff({ stepId, retryAt, deadlineAt }: OpenStep, reason: HeddleError, now: number): void {
    this.#stops?.unwatch(stepId);
    if (retryAt !== undefined) this.#owner.disarm(retryAt, RETRY_TIMER + stepId);
    if (deadlineAt !== undefined) this.#owner.disarm(deadlineAt, STEP_DEADLINE_TIMER + stepId);
    const attempt = this.#underWay.get(stepId);
    if (!attempt) return;
    this.#closeAccount(attempt, now); // what it goes on to use counts nowhere
    attempt.callOff(reason);
    this.#underWay.delete(stepId);
  }

  /** The same for all there are, those of an execution that was set aside while they were under way among them. */
  callOffAll(reason: HeddleError, now: number): void {
    for (const step of this.#owner.steps?.allOpen() ?? []) this.callOff(step, reason, now);
    for (const attempt of this.#underWay.values()) attempt.callOff(reason);
  }

  /** Aborts every attempt under way: this process goes no further with it, and what they come to is lost. */
  abort(reason: unknown): void {
    this.ignoreStops();
    for (const attempt of this.#underWay.values()) attempt.abort(reason);
  }

  ignoreStops(): void {
    this.#stops?.clear();
  }

  /** Records what all that are under way have used: with the end of their execution nobody waits for them any more. (T3) */
  closeAccounts(now: number): void {
    for (const attempt of this.#underWay.values()) this.#closeAccount(attempt, now);
  }

  #closeAccount(attempt: InFlight, now: number): void {
    this.#recordUse(attempt, attempt.account?.close(now));
  }

  #recordUse({ stepId, attempt }: InFlight | OpenStep, used: Used | undefined): void {
    if (used) this.#owner.append({ type: "EFFECT_METERED", stepId, attempt, used });
  }

  #watchStop(step: OpenStep): void {
    if (!step.task.signal) return;
    this.#stops ??= new Stops();
    this.#stops.watch(step, () => this.#owner.noteStop(step.stepId));
  }

  #doubt({ stepId, attempt }: OpenStep, error: Wire): void {
    const doubt = { type: "EFFECT_INDOUBT", stepId, attempt, error } as const;
    this.#owner.append(doubt);
    this.#owner.steps?.noteInDoubt(doubt);
  }

  #retry(event: EventOf<"STEP_RETRIED">): void {
    this.#owner.append(event);
    this.#owner.steps?.noteRetry(event);
  }
}

function failed(stepId: string, error: Wire, used?: Used): EventOf<"STEP_FAILED"> {
  return { type: "STEP_FAILED", stepId, error, channel: undefined, payload: undefined, used };
}
