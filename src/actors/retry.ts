// Retry: whether a failed attempt is repeated, and when. Pure; what it says is recorded before anything waits.

import type { RetryPolicy } from "../kernel/index.js";

/**
 * The delay before the next attempt in milliseconds, or undefined when there is none. Exponential: the n-th failure
 * waits `baseDelayMs * factor^(n-1)`, at most `maxDelayMs`.
 */
export function retryDelay(policy: RetryPolicy | undefined, failures: number): number | undefined {
  const { maxAttempts = 1, baseDelayMs = 200, factor = 2, maxDelayMs = 30_000 } = policy ?? {};
  if (!(failures < maxAttempts)) return undefined;
  const delay = Math.min(baseDelayMs * factor ** (failures - 1), maxDelayMs);
  // Zero times a factor that grew to infinity; and whatever a task that no builder checked may say. A timer needs a time.
  return delay >= 0 ? delay : 0;
}
