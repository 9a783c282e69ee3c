// ChangedContext: the context of an attempt in which something is another: its signal, where what it emits goes.
// All else is the attempt's.

import type { RetryPolicy, TaskKind } from "../kernel/index.js";
import type { EffectContext, Principal } from "./effect.js";

export class ChangedContext implements EffectContext {
  readonly executionId: string;
  readonly workflowId: string;
  readonly stepId: string;
  readonly toolId: string;
  readonly taskKind: TaskKind;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly principal: Principal | undefined;
  readonly failures: number | undefined;
  readonly retry: RetryPolicy | undefined;
  readonly signal: AbortSignal;
  readonly emit: EffectContext["emit"];
  readonly meter: EffectContext["meter"];
  readonly isPrivate: EffectContext["isPrivate"];
  readonly #context: EffectContext;

  constructor(
    context: EffectContext,
    changes: Partial<Pick<EffectContext, "signal" | "emit" | "isPrivate">>,
  ) {
    this.#context = context;
    this.executionId = context.executionId;
    this.workflowId = context.workflowId;
    this.stepId = context.stepId;
    this.toolId = context.toolId;
    this.taskKind = context.taskKind;
    this.attempt = context.attempt;
    this.idempotencyKey = context.idempotencyKey;
    this.principal = context.principal;
    this.failures = context.failures;
    this.retry = context.retry;
    this.signal = changes.signal ?? context.signal;
    this.emit = changes.emit ?? context.emit;
    this.meter = context.meter;
    this.isPrivate = changes.isPrivate ?? context.isPrivate;
  }

  get account(): EffectContext["account"] {
    return this.#context.account;
  }
}
