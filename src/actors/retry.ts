// Retry: whether a failed attempt is repeated, and when. Pure; what it says is recorded before anything waits.

import type { Outcome } from "../effects/index.js";
import { BACKOFF, backoffDelay, type OpenStep } from "../kernel/index.js";

type Failed = Extract<Outcome, { kind: "failed" }>;

/**
 * The delay before the next attempt in milliseconds, or undefined when there is none, as after one that was told to stop. What a
 * middleware asked for is done; otherwise the step's policy decides, and a failure that says when it may be tried again is not
 * tried before that.
 */
export function retryDelay(
  { task, failures }: Pick<OpenStep, "task" | "failures">,
  { retryable, retryInMs, retryAfterMs = 0 }: Failed,
  seed: string,
): number | undefined {
  if (task.signal?.aborted) return undefined;
  if (retryInMs !== undefined) return retryInMs;
  const {
    maxAttempts = 1,
    baseDelayMs = BACKOFF.baseDelayMs,
    factor = BACKOFF.factor,
    maxDelayMs = BACKOFF.maxDelayMs,
    jitter = false,
  } = task.retry ?? {};
  const failed = failures + 1;
  if (!retryable || !(failed < maxAttempts)) return undefined;
  return Math.max(backoffDelay({ baseDelayMs, factor, maxDelayMs, jitter }, failed, seed), retryAfterMs);
}
