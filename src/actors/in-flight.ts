// InFlight: one dispatched attempt of a step, as the executor sees it. Made for every dispatch, so the parts few
// handlers ask for (the signal, the key) are made when they are asked for.

import {
  CallAccount,
  type Invocation,
  type LateOutcome,
  lateOf,
  type Outcome,
  type Principal,
} from "../effects/index.js";
import {
  Abortable,
  type ExecutableTask,
  idempotencyKeyOf,
  type OpenStep,
  type RetryPolicy,
  type TaskKind,
  type UsageReport,
  type Wire,
} from "../kernel/index.js";

/** Who takes what an attempt has to say beside its outcome. */
export interface AttemptSink {
  emitFrom(attempt: InFlight, name: string, payload: unknown): void;
  settledLate(attempt: InFlight, outcome: LateOutcome): void;
  /** Who the execution acts for. */
  readonly principal: Principal | undefined;
}

export class InFlight extends Abortable implements Invocation {
  readonly executionId: string;
  readonly workflowId: string;
  /** Its own: the step goes on counting when this attempt has failed. */
  readonly attempt: number;
  readonly failures: number;
  /** Opened when it is dispatched or, where no budgets are configured, for the first report. */
  account: CallAccount | undefined;
  readonly #step: OpenStep;
  /** Whether it was handed to the executor. */
  isDispatched = false;
  isHeld = false;
  /** Whether its outcome was given up while it was under way: what it comes to is recorded as late. */
  isCalledOff = false;
  readonly #sink: AttemptSink;
  #isLate = false;

  constructor(executionId: string, workflowId: string, step: OpenStep, sink: AttemptSink) {
    super();
    this.executionId = executionId;
    this.workflowId = workflowId;
    this.attempt = step.attempt;
    this.failures = step.failures;
    this.#step = step;
    this.#sink = sink;
  }

  get stepId(): string {
    return this.#step.stepId;
  }

  get issue(): number {
    return this.#step.issue;
  }

  /** Whether its effect may have done something. */
  get mayHaveRun(): boolean {
    return this.isDispatched && !this.isHeld;
  }

  get task(): ExecutableTask {
    return this.#step.task;
  }

  get principal(): Principal | undefined {
    return this.#sink.principal;
  }

  get retry(): RetryPolicy | undefined {
    return this.task.retry;
  }

  get toolId(): string {
    return this.task.toolId ?? this.task.id;
  }

  get taskKind(): TaskKind {
    return this.task.kind ?? "step";
  }

  get input(): Wire {
    return this.#step.input;
  }

  get idempotencyKey(): string {
    return idempotencyKeyOf(this.executionId, this.#step.stepId, this.#step.issue);
  }

  // A function of its own, because handlers hand `ctx.emit` on detached.
  get emit(): (name: string, payload: unknown) => void {
    return (name, payload) => this.#sink.emitFrom(this, name, payload);
  }

  get meter(): (usage: UsageReport) => void {
    return (usage) => {
      this.account ??= new CallAccount();
      this.account.report(usage);
    };
  }

  /** Once: an effect that its time limit and a cancel both gave up comes to one outcome. */
  settleLate(outcome: LateOutcome): void {
    if (this.#isLate) return;
    this.#isLate = true;
    this.#sink.settledLate(this, outcome);
  }

  /** The same, from what its executor says of it. */
  noteLate(outcome: Outcome): void {
    const late = lateOf(outcome);
    if (late) this.settleLate(late);
  }

  /** Nobody waits for it any more. */
  callOff(reason: unknown): void {
    this.isCalledOff = true;
    this.abort(reason);
  }

  override abort(reason: unknown): void {
    this.account?.drop();
    super.abort(reason);
  }
}
