// Attempt: one call under way in a thread, as its effect sees it. The parts few effects ask for (signal, emit) are made
// when they are asked for.

import type { EffectContext, Principal } from "../../../effects/index.js";
import { Abortable } from "../../../kernel/abortable.js";
import { fromWire } from "../../../kernel/codec/index.js";
import type { TaskKind, UsageReport } from "../../../kernel/index.js";
import type { CallMessage } from "../protocol.js";

/** Who takes what an effect emits. */
export interface EmitSink {
  emitFrom(attempt: Attempt, eventType: string, payload: unknown): void;
  meterFrom(attempt: Attempt, usage: UsageReport): void;
}

export class Attempt extends Abortable implements EffectContext {
  readonly id: number;
  readonly effectId: string;
  readonly executionId: string;
  readonly workflowId: string;
  readonly stepId: string;
  readonly attempt: number;
  readonly toolId: string;
  readonly taskKind: TaskKind;
  readonly idempotencyKey: string;
  readonly principal: Principal | undefined;
  readonly startedAt: number;
  readonly #sink: EmitSink;

  constructor(message: CallMessage, startedAt: number, sink: EmitSink) {
    super();
    this.id = message[1];
    this.effectId = message[2];
    this.executionId = message[4];
    this.workflowId = message[5];
    this.stepId = message[6];
    this.attempt = message[7];
    this.toolId = message[8] ?? message[2];
    this.taskKind = message[9];
    this.idempotencyKey = message[10];
    this.principal = fromWire(message[12]) as Principal | undefined;
    this.startedAt = startedAt;
    this.#sink = sink;
  }

  // A function of its own, because effects hand `ctx.emit` on detached.
  get emit(): EffectContext["emit"] {
    return (eventType, payload) => this.#sink.emitFrom(this, eventType, payload);
  }

  get meter(): EffectContext["meter"] {
    return (usage) => this.#sink.meterFrom(this, usage);
  }
}
