// IssuedSteps: the steps one run has issued, by id, and how each stands.
//
// I1  An id names one result: it is issued again only after an untyped failure, which the flow caught.
// I2  Tasks, inputs and promises are dropped once nothing can ask for them.

import type { Wire } from "./codec/index.js";
import { sameWire } from "./codec/index.js";
import type { Deferred } from "./deferred.js";
import type { TypedFailure } from "./errors.js";
import type { EventOf } from "./events.js";
import { idReused, typedFailure } from "./flow-errors.js";
import { LeanMap } from "./lean-map.js";
import type { AttemptListener } from "./recording.js";
import type { Secrecy } from "./secrets/index.js";
import type { ExecutableTask } from "./task.js";

/** A step in flight, as the actor needs it to dispatch it. */
export interface OpenStep {
  readonly stepId: string;
  readonly task: ExecutableTask;
  readonly input: Wire;
  /** Counts the issues of this id in this run, from 1; only an id that failed can be issued again. */
  readonly issue: number;
  /** The attempt that is running or due, counted from 1. */
  readonly attempt: number;
  /** Attempts that ended in a failure; attempts a crash cut short are not failures. */
  readonly failures: number;
  /** When a waiting retry is due; undefined when the attempt may have been dispatched. */
  readonly retryAt: number | undefined;
  /** Whether it waits for a verdict: it may have done its work, and may not be repeated. */
  readonly inDoubt: boolean;
  /** Whether a cancellation leaves it alone. */
  readonly shielded: boolean;
  /** When it fails whatever it is at. */
  readonly deadlineAt: number | undefined;
}

interface IssuedStep extends OpenStep {
  phase: "pending" | "completed" | "failed" | "failedOnChannel" | "cancelled";
  task: ExecutableTask;
  input: Wire;
  attempt: number;
  failures: number;
  retryAt: number | undefined;
  inDoubt: boolean;
  deferred: Deferred<unknown> | undefined;
  failure: TypedFailure | undefined;
}

/** Instead of a task that is done: its functions may hold on to much. */
const SETTLED: ExecutableTask = Object.freeze({ id: "settled" });

/** What was asked for: a task, its input, and what the log is to know of the issue. */
export interface StepRequest extends Pick<OpenStep, "task" | "input" | "shielded" | "deadlineAt"> {}

// A map itself, not one that holds a map: there are very many, and most hold one step.
export class IssuedSteps extends LeanMap<IssuedStep> implements AttemptListener {
  /** Steps issued and not settled. */
  openCount = 0;
  /** Those of them that wait for a verdict. */
  inDoubtCount = 0;

  /** A step that is issued and not settled. */
  open(stepId: string): OpenStep | undefined {
    const step = this.get(stepId);
    return step?.phase === "pending" ? step : undefined;
  }

  /** Every step that is issued and not settled: what a recovered execution has to see to. */
  allOpen(): OpenStep[] {
    const open: OpenStep[] = [];
    if (this.openCount === 0) return open;
    for (const step of this.values()) {
      if (step.phase === "pending") open.push(step);
    }
    return open;
  }

  /**
   * The typed failure that stands for this very call, if the id has failed on a channel for the same input.
   *
   * @throws STEP_ID_REUSED where the id may not be issued again (I1)
   */
  standingFailure(executionId: string, stepId: string, input: Wire): TypedFailure | undefined {
    const earlier = this.get(stepId);
    if (!earlier || earlier.phase === "failed") return undefined;
    if (earlier.phase === "failedOnChannel" && sameWire(earlier.input, input)) return earlier.failure;
    throw idReused(executionId, stepId);
  }

  /** @param deferred what the flow is going to wait for */
  issue({ task, input, shielded, deadlineAt }: StepRequest, deferred: Deferred<unknown>): OpenStep {
    const step: IssuedStep = {
      phase: "pending",
      stepId: task.id,
      task,
      input,
      deferred,
      failure: undefined,
      issue: (this.get(task.id)?.issue ?? 0) + 1,
      attempt: 1,
      failures: 0,
      retryAt: undefined,
      inDoubt: false,
      shielded,
      deadlineAt,
    };
    this.set(task.id, step);
    this.openCount++;
    return step;
  }

  /** Takes note of a retry, met in the recording or appended just now. */
  noteRetry(retry: EventOf<"STEP_RETRIED">): void {
    const step = this.get(retry.stepId);
    if (!step) return;
    step.attempt = retry.attempt;
    if (retry.reason === "failed") step.failures++;
    const isDispatched = retry.reason === "recovered" || retry.reason === "verdict";
    step.retryAt = isDispatched ? undefined : retry.dueAt;
    this.#clearDoubt(step);
  }

  /** Takes note that a step waits for a verdict. */
  noteInDoubt({ stepId }: EventOf<"EFFECT_INDOUBT">): void {
    const step = this.get(stepId);
    if (!step || step.inDoubt) return;
    step.inDoubt = true;
    step.retryAt = undefined;
    this.inDoubtCount++;
  }

  complete({ stepId, output }: EventOf<"STEP_COMPLETED">, secrecy: Secrecy): void {
    const step = this.#close(stepId, "completed");
    step.deferred!.resolve(secrecy.reveal(output));
    step.input = step.deferred = undefined;
  }

  fail(outcome: EventOf<"STEP_FAILED">, secrecy: Secrecy): void {
    const { stepId, channel, error } = outcome;
    if (channel === undefined) {
      const step = this.#close(stepId, "failed");
      step.deferred!.reject(secrecy.reveal(error));
      step.input = step.deferred = undefined;
    } else {
      const step = this.#close(stepId, "failedOnChannel");
      step.failure = typedFailure(channel, outcome, secrecy);
      step.deferred!.reject(step.failure);
      step.deferred = undefined;
    }
  }

  /** Rejects all that are open and not shielded. */
  cancel(error: unknown): void {
    for (const step of this.values()) {
      if (step.phase !== "pending" || step.shielded) continue;
      this.#close(step.stepId, "cancelled");
      step.deferred!.reject(error);
      step.input = step.deferred = undefined;
    }
  }

  #close(stepId: string, phase: IssuedStep["phase"]): IssuedStep {
    const step = this.get(stepId)!;
    this.openCount--;
    this.#clearDoubt(step);
    step.phase = phase;
    step.task = SETTLED;
    return step;
  }

  #clearDoubt(step: IssuedStep): void {
    if (!step.inDoubt) return;
    step.inDoubt = false;
    this.inDoubtCount--;
  }
}
