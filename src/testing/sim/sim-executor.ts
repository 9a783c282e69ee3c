// SimExecutor: where effects run in a simulation. It is the real executor, with time and loss between it and the partition.
//
// S1  An attempt begins some time after it was dispatched, and is told some time after it ended; what was called off meanwhile
//     goes the same way.
// S2  A lost worker may have done the work, or not. What its pool would say of it is said here.

import type { EffectExecutor, Invocation, Outcome } from "../../effects/index.js";
import { type ExecutableTask, failureToWire, HeddleError } from "../../kernel/index.js";
import type { Faults } from "./faults.js";
import type { AttemptId, Observer } from "./observation.js";
import type { SimRandom } from "./random.js";
import type { Lane, Scheduler } from "./scheduler.js";
import { withTask } from "./with-task.js";

export interface SimExecutorOptions {
  readonly inner: EffectExecutor;
  readonly scheduler: Scheduler;
  readonly random: SimRandom;
  readonly process: Lane;
  readonly faults: () => Faults;
  readonly observer: Observer;
  readonly isFenced: (executionId: string) => boolean;
  /** The invocation as its effect is to see it. */
  readonly shown: (invocation: Invocation) => Invocation;
}

export class SimExecutor implements EffectExecutor {
  readonly #options: SimExecutorOptions;

  constructor(options: SimExecutorOptions) {
    this.#options = options;
  }

  mayRepeat(task: ExecutableTask): boolean {
    return this.#options.inner.mayRepeat?.(task) ?? task.idempotent ?? true;
  }

  dispatch(invocation: Invocation, settle: (outcome: Outcome) => void): void {
    const { scheduler, process, random, faults, observer, isFenced, inner } = this.#options;
    const attempt = attemptIdOf(invocation);
    const mayRepeat = this.mayRepeat(invocation.task);
    const about = () => ({
      process: process.name,
      attempt,
      mayRepeat,
      isFenced: isFenced(invocation.executionId),
    });
    observer.see({ kind: "dispatched", ...about() });
    const lost = random.chance(faults().workerLoss) ? random.pick(["before", "after"]) : undefined;
    const tell = (outcome: Outcome): void => {
      const delayMs = random.pick(random.chance(faults().lateResult) ? [3, 60, 5_000] : [0, 0, 1]);
      scheduler.schedule(process, delayMs, () => {
        observer.see({ kind: "outcome", process: process.name, attempt, outcome });
        settle(outcome);
      });
    };
    scheduler.schedule(process, random.pick([0, 0, 1]), () => {
      if (invocation.isAborted) return tell({ kind: "aborted" });
      if (lost === "before") return tell(lostWorker(invocation, mayRepeat)); // S2
      observer.see({ kind: "begun", ...about() });
      const shown = this.#options.shown(invocation);
      const run = random.chance(faults().duplicateResult) ? calledBackTwice(shown) : shown;
      inner.dispatch(run, (outcome) =>
        tell(lost && outcome.kind !== "aborted" ? lostWorker(invocation, mayRepeat) : outcome),
      );
    });
  }
}

function attemptIdOf({ executionId, stepId, idempotencyKey, attempt }: Invocation): AttemptId {
  return { executionId, stepId, key: idempotencyKey, attempt };
}

type Callback = (value: unknown) => unknown;

/** As a promise of somebody else's making may do. */
function calledBackTwice(invocation: Invocation): Invocation {
  const { task } = invocation;
  const { handler } = task;
  if (!handler) return invocation;
  return withTask(invocation, {
    ...task,
    handler: (input, ctx) => {
      const result = Promise.resolve(handler(input, ctx));
      const twice = (call: Callback) => (value: unknown) => {
        call(value);
        call(value);
      };
      // oxlint-disable-next-line unicorn/no-thenable -- a promise of somebody else's making is what this plays
      return { then: (kept: Callback, broken: Callback) => result.then(twice(kept), twice(broken)) };
    },
  });
}

function lostWorker({ stepId }: Invocation, mayRepeat: boolean): Outcome {
  const error = failureToWire(
    new HeddleError("EFFECT_WORKER_LOST", `The simulated worker that ran ${stepId} is gone.`),
  );
  return mayRepeat ? { kind: "failed", error, retryable: true } : { kind: "inDoubt", error };
}
