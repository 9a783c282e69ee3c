// retryMiddleware: makes another attempt at what failed, for every effect inside it.
//
// Inside an execution the wait is durable: the attempt ends, that it failed and when the next one is due are recorded, and a
// restart in between goes on counting (RetryLater). With a `sleep` of your own, and outside executions, it waits in place.
//
// M1  Never retried: a typed failure (a declared outcome is not transient), what was aborted, and what says of itself that it
//     is not retryable.
// M2  Retries do not multiply: a step with a `retry` of its own is left to that.
// M3  What was lost with its thread is not repeated in place: whether it may be repeated at all is not known here.

import { type EffectContext, type EffectMiddleware, RetryLater, retryHintOf } from "../effects/index.js";
import {
  BACKOFF,
  BACKOFF_OPTIONS,
  backoffDelay,
  checkRetryOptions,
  hasCode,
  TypedFailure,
  tell,
} from "../kernel/index.js";

export interface RetryEvent {
  readonly executionId: string;
  readonly stepId: string;
  readonly toolId: string;
  /** The failure that is about to be retried is the n-th of this step, counted from 1. */
  readonly failures: number;
  readonly delayMs: number;
  readonly error: unknown;
}

export interface RetryMiddlewareOptions {
  /** Attempts after the first. Default 3. */
  readonly maxRetries?: number;
  /** Before the first retry. Default 200 ms. */
  readonly baseDelayMs?: number;
  /** Each further delay is this many times the one before. Default 2. */
  readonly factor?: number;
  /** No delay is longer, unless the failure asks for it. Default 30,000 ms. */
  readonly maxDelayMs?: number;
  /** Takes up to half off each delay, by a hash of execution, step and attempt. Default true. */
  readonly jitter?: boolean;
  /** Narrows what is retried further; asked last. */
  readonly isRetryable?: (error: unknown, ctx: EffectContext) => boolean;
  /** Told before each retry. What it throws is ignored. */
  readonly onRetry?: (event: RetryEvent) => void;
  /** Waits in place, in this process: for tests, and where a wait need not survive a restart. */
  readonly sleep?: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

const OPTIONS = {
  maxRetries: 0,
  ...BACKOFF_OPTIONS,
  isRetryable: "function",
  onRetry: "function",
  sleep: "function",
} as const;

/** @throws CONFIG_INVALID for an option that there is not, or a value it cannot have */
export function retryMiddleware(options: RetryMiddlewareOptions = {}): EffectMiddleware {
  const {
    maxRetries = 3,
    baseDelayMs = BACKOFF.baseDelayMs,
    factor = BACKOFF.factor,
    maxDelayMs = BACKOFF.maxDelayMs,
    jitter = true,
    onRetry,
  } = options;
  checkRetryOptions("retryMiddleware: ", options, OPTIONS);
  const backoff = { baseDelayMs, factor, maxDelayMs, jitter };
  return async (ctx, _input, next) => {
    for (let failures = (ctx.failures ?? 0) + 1; ; failures++) {
      try {
        return await next();
      } catch (error) {
        const { retryAfterMs = 0 } = retryHintOf(error, Date.now());
        if (failures > maxRetries || !mayRetry(error, ctx, options)) throw error;
        const { executionId, stepId, toolId, signal } = ctx;
        const delayMs = Math.max(backoffDelay(backoff, failures, `${executionId}/${stepId}`), retryAfterMs);
        tell(() => onRetry?.({ executionId, stepId, toolId, failures, delayMs, error }));
        if (options.sleep === undefined && ctx.failures !== undefined) throw new RetryLater(error, delayMs);
        if (hasCode(error, "EFFECT_WORKER_LOST")) throw error; // M3
        await (options.sleep ?? sleepHere)(delayMs, signal);
        signal.throwIfAborted();
      }
    }
  };
}

function mayRetry(error: unknown, ctx: EffectContext, { isRetryable }: RetryMiddlewareOptions): boolean {
  if (error instanceof RetryLater || error instanceof TypedFailure || ctx.signal.aborted) return false; // M1
  if ((ctx.retry?.maxAttempts ?? 1) > 1) return false; // M2
  if (retryHintOf(error, 0).retryable === false) return false;
  return isRetryable?.(error, ctx) ?? true;
}

function sleepHere(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, delayMs);
    signal.addEventListener("abort", wake, { once: true });
  });
}
