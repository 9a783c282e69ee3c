// InlineExecutor: runs effects in the actor's own thread, where closures such as `handler$` live, and the ring around all
// of them; a remote effect is called from here and runs elsewhere.
//
// X1  settle is called exactly once, also when a handler throws synchronously, never ends its timeout, or returns
//     something that cannot be recorded.
// X2  A timeout counts from the start of the attempt and aborts its signal; what comes later is told as late. A remote effect
//     starts when it starts there, and is timed there; here the ring around it is, on the way in and on the way out.
// X3  Nothing begins for an attempt that is over or called off, whatever a middleware does then.
// X4  A stream that is not recorded is not left open either.
// X5  An effect is given sealed values opened. In what it gives back, fails with and emits they are sealed or replaced before
//     it gets anywhere else.
// X6  An attempt that may not be repeated and ran out of time is in doubt: nobody knows whether it did its work. Unless its effect
//     had not begun.
// X7  A task's own signal ends its step and nothing else. What the effect makes of it is its outcome, as long as it does not take
//     too long.

import {
  type Clock,
  describeIssues,
  EffectModeViolationError,
  type ExecutableTask,
  type FailureChannels,
  failureToWire,
  fromWire,
  HeddleError,
  hasCode,
  hasMarks,
  hidePayload,
  issuesOf,
  isThenable,
  NO_VAULT,
  parseOutput,
  parseSync,
  type Secrecy,
  secrecyOf,
  TypedFailure,
  VALUE_LIMITS,
  type ValueLimits,
  type Vault,
} from "../kernel/index.js";
import { ChangedContext } from "./changed-context.js";
import { OFFLOAD_LIMITS } from "./claim-check/encoding.js";
import { type ClaimCheckEnvelope, isClaimCheck } from "./claim-check/envelope.js";
import { discardStreams, StreamResult } from "./claim-check/stream-result.js";
import { envelopeRefused, nobodyTakes } from "./claim-check/unrecorded.js";
import { type Effect, type EffectContext, isRemote, type RemoteEffect, type RemoteTerms } from "./effect.js";
import { type EffectRuntime, effectUnknown } from "./effect-runtime.js";
import type { EffectExecutor, Invocation, Outcome } from "./executor.js";
import { lateOf } from "./late.js";
import { calledLate } from "./layer.js";
import { meteredByResult } from "./quota/model-usage.js";
import { exceededBy, QuotaRefused, quotaError } from "./quota/refusal.js";
import { retryHintOf } from "./retry-hint.js";
import { RetryLater } from "./retry-later.js";
import { StepStop, stopError } from "./step-stop.js";
import { TimeLimit } from "./time-limit.js";

/** What a typed failure may carry: facts to branch on, not data. */
const PAYLOAD_LIMITS: ValueLimits = { ...VALUE_LIMITS, bytesMax: 16 * 1024 };

export class InlineExecutor implements EffectExecutor {
  readonly #effects: EffectRuntime;
  readonly #clock: Clock;
  readonly #limits: ValueLimits;
  readonly #vault: Vault;

  constructor(effects: EffectRuntime, clock: Clock, limits: ValueLimits, vault = NO_VAULT) {
    this.#vault = vault;
    this.#effects = effects;
    this.#clock = clock;
    this.#limits = limits;
  }

  dispatch(invocation: Invocation, settle: (outcome: Outcome) => void): void {
    const { timeoutMs, signal: stop } = invocation.task;
    if (stop?.aborted) return settle(this.#stopped(invocation, false)); // X7
    const ending = new Ending(
      invocation,
      stop ? (outcome) => settle(this.#told(invocation, outcome)) : settle,
    );
    const release = this.elsewhere(invocation)?.reserve();
    if (release) {
      ending.release = release;
      // What was called off will not need it, whenever the ring around it is through.
      if (this.#effects.hasRing) invocation.signal.addEventListener("abort", release, { once: true });
    }
    // Around a remote effect the ring alone is timed here. (X2)
    const isTimed = timeoutMs !== undefined && (release === undefined || this.#effects.hasRing);
    const context = isTimed || stop ? this.#interruptible(invocation, ending, isTimed) : invocation;
    this.#attempt(invocation, context, ending);
  }

  mayRepeat({ id, toolId = id, handler, idempotent }: ExecutableTask): boolean {
    return idempotent ?? (handler ? undefined : this.#effects.find(toolId)?.idempotent) ?? true;
  }

  elsewhere({ task, toolId }: Invocation): RemoteEffect | undefined {
    if (task.handler) return undefined;
    const effect = this.#effects.find(toolId);
    return isRemote(effect) ? effect : undefined;
  }

  /** The same attempt, with a signal that its time limit and its task's own signal abort as well. */
  #interruptible(invocation: Invocation, ending: Ending, isTimed: boolean): EffectContext {
    const { timeoutMs, signal: stop } = invocation.task;
    const controller = new AbortController();
    if (isTimed && timeoutMs !== undefined)
      ending.limit = this.#limitOf(invocation, timeoutMs, controller, ending);
    if (stop)
      ending.stop = new StepStop(stop, this.#clock, controller, () =>
        ending.settle(this.#overdue(invocation, stopError(invocation, true), false)),
      );
    // An attempt that was called off needs neither, and a timer must not keep a closed host alive.
    invocation.signal.addEventListener("abort", () => ending.unwatch(), { once: true });
    const signal = AbortSignal.any([invocation.signal, controller.signal]);
    ending.limit?.run();
    return new ChangedContext(invocation, { signal });
  }

  #limitOf(
    invocation: Invocation,
    timeoutMs: number,
    controller: AbortController,
    ending: Ending,
  ): TimeLimit {
    return new TimeLimit(this.#clock, timeoutMs, () => {
      const error = new HeddleError(
        "EFFECT_TIMED_OUT",
        `Step ${invocation.stepId} ran longer than ${timeoutMs} ms (attempt ${invocation.attempt}).`,
        {
          details: { stepId: invocation.stepId, timeoutMs },
        },
      );
      controller.abort(error);
      ending.settle(this.#overdue(invocation, error, true));
    });
  }

  #attempt(invocation: Invocation, context: EffectContext, ending: Ending): void {
    const secrecy = secrecyOf(this.#vault, invocation.executionId);
    try {
      const result = this.#call(invocation, context, ending, secrecy);
      if (isThenable(result)) {
        // A promise of somebody else's making may call back more than once. (X1)
        const promise = result instanceof Promise ? result : Promise.resolve(result);
        promise.then(
          (value) => ending.settle(this.#completed(invocation, secrecy, value)),
          (error: unknown) => ending.settle(this.#failed(invocation, context, secrecy, error)),
        );
      } else ending.settle(this.#completed(invocation, secrecy, result));
    } catch (error) {
      ending.settle(this.#failed(invocation, context, secrecy, error));
    }
  }

  #call(invocation: Invocation, context: EffectContext, ending: Ending, secrecy: Secrecy): unknown {
    const { task } = invocation;
    const { handler } = task;
    const recorded = secrecy.reveal(invocation.input);
    const input = task.expand ? task.expand(recorded) : recorded;
    const isMarked = hasMarks(task.outputSchema);
    const discreet = isMarked || secrecy.hasSecrets ? this.#discreet(context, secrecy, isMarked) : context;
    const effect = handler ? undefined : this.#effectOf(invocation);
    for (const channel in effect?.errors) secrecy.check(effect.errors[channel]);
    invocation.isHeld = this.#effects.hasRing;
    const innermost = (value: unknown, ctx: EffectContext): unknown => {
      if (ending.isOver) throw calledLate(ctx); // X3
      if (invocation.isAborted) throw invocation.signal.reason;
      if (task.signal?.aborted) throw task.signal.reason; // X7
      invocation.isHeld = false;
      if (!effect) return handler?.(value, ctx);
      const result = isRemote(effect)
        ? ending.elsewhere(() => effect.executeWithin(value, ctx, this.#termsOf(invocation, ending, secrecy)))
        : effect.execute(value, ctx);
      return effect.kind === "llm" ? meteredByResult(result, ctx) : result;
    };
    return this.#effects.run(discreet, input, innermost, isRemote(effect));
  }

  /** X5 */
  #discreet(context: EffectContext, secrecy: Secrecy, isMarked: boolean): EffectContext {
    const emit: EffectContext["emit"] = (eventType, payload) =>
      context.emit(eventType, secrecy.shown(payload, this.#limits));
    const isPrivate = (result: unknown): boolean =>
      isMarked || (!(result instanceof StreamResult) && secrecy.isIn(result, OFFLOAD_LIMITS));
    return new ChangedContext(context, { emit, isPrivate });
  }

  #effectOf({ task, toolId }: Invocation): Effect {
    const effect = this.#effects.find(toolId);
    if (!effect) {
      throw effectUnknown(`Step ${task.id} has no handler, and no effect is registered as ${toolId}`, toolId);
    }
    if (effect.mode === "ambient") throw new EffectModeViolationError(toolId, "ambient");
    return effect;
  }

  #termsOf(invocation: Invocation, { release }: Ending, secrecy: Secrecy): RemoteTerms {
    const { task } = invocation;
    return {
      timeoutMs: task.timeoutMs,
      mayRepeat: this.mayRepeat(task),
      late: (failure) => {
        // What its channel would have marked is not looked up any more.
        if (failure?.error instanceof TypedFailure && this.#vault.hasKey) hidePayload(failure.error);
        invocation.settleLate(
          failure ? { kind: "failed", error: secrecy.failure(failure.error) } : { kind: "completed" },
        );
      },
      ...(task.signal && { stop: task.signal }),
      ...(release && { release }),
      ...(secrecy.hasSecrets && { conceal: (failure) => fromWire(secrecy.failure(failure)) }),
    };
  }

  #completed(invocation: Invocation, secrecy: Secrecy, value: unknown): Outcome {
    const { task } = invocation;
    invocation.account?.end(this.#clock.now());
    try {
      if (value instanceof StreamResult) throw nobodyTakes(value, task.id);
      const output = isClaimCheck(value) ? parsedEnvelope(task, value) : parseOutput(task, value);
      return { kind: "completed", output: secrecy.wireOf(output, task.outputSchema, this.#limits) };
    } catch (error) {
      discardStreams(value); // X4
      if (hasMarks(task.outputSchema)) secrecy.remember(value); // the error may have it in its words
      return { kind: "failed", error: secrecy.failure(error), retryable: false };
    }
  }

  #failed(invocation: Invocation, context: EffectContext, secrecy: Secrecy, error: unknown): Outcome {
    if (hasStopped(invocation, context, error)) return { kind: "aborted" };
    if (error instanceof QuotaRefused) {
      const { refusal } = error;
      return {
        kind: "overBudget",
        refusal,
        error: failureToWire(quotaError(invocation.stepId, refusal)),
      };
    }
    invocation.account?.end(this.#clock.now());
    if (error instanceof TypedFailure) return this.#failedOnChannel(invocation, secrecy, error);
    // Whoever asks for another attempt does not know that there may be none.
    const cause = error instanceof RetryLater ? error.failure : error;
    if (isUnknown(cause) && !this.mayRepeat(invocation.task))
      return { kind: "inDoubt", error: secrecy.failure(cause) }; // X6
    if (error instanceof RetryLater)
      return { kind: "failed", error: secrecy.failure(cause), retryable: true, retryInMs: error.delayMs };
    const { retryable = true, retryAfterMs } = retryHintOf(error, this.#clock.now());
    const exceeded = exceededBy(error);
    // A stream that was cut is a stream that was paid for.
    const isUnreported = exceeded?.scope === "call" && !invocation.account?.hasReported;
    if (isUnreported && exceeded.meter === "tokens") invocation.meter({ tokens: exceeded.used });
    return { kind: "failed", error: secrecy.failure(error), retryable, retryAfterMs, exceeded };
  }

  /** Of an attempt that goes on when nobody waits for it any longer. (X6) */
  #overdue(invocation: Invocation, failure: HeddleError, retryable: boolean): Outcome {
    const { executionId, task, isHeld } = invocation;
    const error = secrecyOf(this.#vault, executionId).failure(failure);
    return this.mayRepeat(task) || isHeld ? { kind: "failed", error, retryable } : { kind: "inDoubt", error };
  }

  #stopped(invocation: Invocation, isUnderWay: boolean): Outcome {
    const error = secrecyOf(this.#vault, invocation.executionId).failure(stopError(invocation, isUnderWay));
    return { kind: "failed", error, retryable: false };
  }

  /** It ended as its signal told it to. If that was its task's, the execution goes on, and has to hear of it. (X7) */
  #told(invocation: Invocation, outcome: Outcome): Outcome {
    const isStopped = outcome.kind === "aborted" && !invocation.isAborted;
    return isStopped ? this.#stopped(invocation, true) : outcome;
  }

  /** A failure on a declared channel with a valid payload is recorded as such; any other degrades to a plain one. */
  #failedOnChannel(invocation: Invocation, secrecy: Secrecy, failure: TypedFailure): Outcome {
    const { task } = invocation;
    const effect = task.handler ? undefined : this.#effects.find(invocation.toolId);
    const channels: FailureChannels = { ...effect?.errors, ...task.errors };
    const { channel } = failure;
    try {
      if (!Object.hasOwn(channels, channel)) {
        const declared = Object.keys(channels).join(", ") || "none";
        throw new HeddleError("CHANNEL_REFUSED", `it is not declared; declared are: ${declared}`);
      }
      if (hasMarks(channels[channel])) {
        hidePayload(failure);
        secrecy.remember(failure.payload);
      }
      const parsed = parseSync(channels[channel]!, failure.payload, "payload of channel", channel);
      if (!parsed.success) throw new HeddleError("CHANNEL_REFUSED", describeIssues(issuesOf(parsed.error)));
      const payload = secrecy.wireOf(parsed.data, channels[channel], PAYLOAD_LIMITS);
      return { kind: "failedOnChannel", channel, payload, error: secrecy.failure(failure) };
    } catch (reason) {
      const error = new HeddleError(
        "CHANNEL_REFUSED",
        `Step ${task.id} failed on channel ${channel}, which is recorded as a plain failure: ${(reason as Error).message}.`,
        { cause: failure, details: { stepId: task.id, channel } },
      );
      return { kind: "failed", error: secrecy.failure(error), retryable: false };
    }
  }
}

/** A schema that knows nothing of envelopes may refuse one, or strip it of all it says. */
function parsedEnvelope({ id, outputSchema }: ExecutableTask, envelope: ClaimCheckEnvelope): unknown {
  if (!outputSchema) return envelope;
  const parsed = parseSync(outputSchema, envelope, "result of step", id);
  if (parsed.success && isClaimCheck(parsed.data)) return parsed.data;
  throw envelopeRefused(id);
}

/** Whether an attempt failed with the very reason its signal was aborted for. */
function hasStopped(invocation: Invocation, context: EffectContext, error: unknown): boolean {
  // A signal that was never asked for is not made now.
  if (context === invocation && !invocation.isAborted) return false;
  return context.signal.aborted && error === context.signal.reason;
}

/** Whether a failure says nothing of whether the work was done. */
function isUnknown(error: unknown): boolean {
  return hasCode(error, "EFFECT_WORKER_LOST") || hasCode(error, "EFFECT_TIMED_OUT");
}

/** How an attempt comes out. (X1) */
class Ending {
  isOver = false;
  /** Gives back the room that was kept for its call, which may never get there. */
  release: (() => void) | undefined;
  /** Absent where nothing is timed here. */
  limit: TimeLimit | undefined;
  /** Absent where its task has no signal. */
  stop: StepStop | undefined;
  readonly #invocation: Invocation;
  readonly #settle: (outcome: Outcome) => void;

  constructor(invocation: Invocation, settle: (outcome: Outcome) => void) {
    this.#invocation = invocation;
    this.#settle = settle;
  }

  /** The call is timed where it runs. */
  elsewhere(call: () => Promise<unknown>): Promise<unknown> {
    return this.limit ? this.limit.except(call) : call();
  }

  /** The second one, after a time limit, is late. */
  settle(outcome: Outcome): void {
    if (this.isOver) {
      const late = lateOf(outcome);
      if (late) this.#invocation.settleLate(late);
      return;
    }
    this.isOver = true;
    this.unwatch();
    this.release?.();
    this.#settle(outcome);
  }

  /** Nothing waits for it to take too long. */
  unwatch(): void {
    this.limit?.end();
    this.stop?.end();
  }
}
