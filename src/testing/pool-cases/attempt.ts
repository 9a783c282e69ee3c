// Attempt: one attempt of one step as an actor makes it, and everything its executor said of it.

import assert from "node:assert/strict";
import type { EffectContext, EffectExecutor, Invocation, LateOutcome, Outcome } from "../../effects/index.js";
import { Abortable, type ExecutableTask, fromWire, toWire, type Wire } from "../../kernel/index.js";
import { waitFor } from "../app/waiting.js";

/** What an attempt is of, as far as it is not like any other. */
export interface AttemptOptions extends Omit<ExecutableTask, "id" | "toolId" | "signal"> {
  readonly executionId?: string;
  readonly attempt?: number;
}

/** How long a case waits for what has to come, in milliseconds. */
const PATIENCE_MS = 15_000;

export class Attempt extends Abortable implements Invocation {
  readonly executionId: string;
  readonly workflowId = "conformance";
  readonly stepId: string;
  readonly attempt: number;
  readonly toolId: string;
  readonly taskKind = "tool";
  readonly task: ExecutableTask;
  readonly input: Wire;
  isHeld = false;
  /** What it was settled with: one outcome, or a rule is broken. */
  readonly outcomes: Outcome[] = [];
  readonly late: LateOutcome[] = [];
  /** What was heard of it, in order: the names of what it emitted, and the kind of its outcome. */
  readonly heard: string[] = [];
  readonly emitted: unknown[] = [];

  constructor(stepId: string, toolId: string, input: unknown, options: AttemptOptions = {}) {
    super();
    const { executionId = "execution", attempt = 1, ...task } = options;
    this.executionId = executionId;
    this.stepId = stepId;
    this.attempt = attempt;
    this.toolId = toolId;
    this.task = { ...task, id: stepId, kind: "tool", toolId };
    this.input = toWire(input);
  }

  get idempotencyKey(): string {
    return `${this.executionId}/${this.stepId}`;
  }

  readonly emit: EffectContext["emit"] = (eventType, payload) => {
    this.heard.push(eventType);
    this.emitted.push(payload);
  };

  readonly meter: EffectContext["meter"] = () => {};

  settleLate(outcome: LateOutcome): void {
    this.late.push(outcome);
  }

  dispatchTo(executor: EffectExecutor): this {
    executor.dispatch(this, (outcome) => {
      this.outcomes.push(outcome);
      this.heard.push(outcome.kind);
    });
    return this;
  }

  async outcome(): Promise<Outcome> {
    await eventually(() => this.outcomes.length > 0, `step ${this.stepId} (${this.toolId}) is settled`);
    return this.outcomes[0]!;
  }

  /** What it gave; anything else than a completion fails the case. */
  async output(): Promise<unknown> {
    const outcome = await this.outcome();
    if (outcome.kind === "completed") return fromWire(outcome.output);
    return assert.fail(`step ${this.stepId} (${this.toolId}) ${described(outcome)}`);
  }

  /** What it failed with, as the flow would see it; anything else fails the case. */
  async failure(): Promise<Failure> {
    const outcome = await this.outcome();
    if (outcome.kind === "failed" || outcome.kind === "failedOnChannel" || outcome.kind === "inDoubt")
      return { ...outcome, error: fromWire(outcome.error) };
    return assert.fail(`step ${this.stepId} (${this.toolId}) ${described(outcome)}`);
  }
}

/** An outcome with the error as its flow would see it. */
export type Failure = { readonly error: unknown } & (
  | { readonly kind: "inDoubt" }
  | { readonly kind: "failedOnChannel"; readonly channel: string; readonly payload: Wire }
  | { readonly kind: "failed"; readonly retryable: boolean; readonly retryAfterMs?: number | undefined }
);

/** Waits for what has to come, whatever the machine has to do beside it. */
export function eventually(predicate: () => boolean, what: string): Promise<void> {
  return waitFor(predicate, { timeoutMs: PATIENCE_MS, intervalMs: 2 }).catch(() =>
    assert.fail(`${what}: not within ${PATIENCE_MS} ms`),
  );
}

function described(outcome: Outcome): string {
  return `came out as ${outcome.kind}${"error" in outcome ? `: ${String(fromWire(outcome.error))}` : ""}`;
}
