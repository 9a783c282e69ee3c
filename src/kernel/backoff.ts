// Backoff: how long to wait before the next attempt. Pure: the same execution waits the same times on every machine.

import { HeddleError } from "./errors.js";
import { fnv1a } from "./ids.js";

/** Where nothing else is said. */
export const BACKOFF = { baseDelayMs: 200, factor: 2, maxDelayMs: 30_000 } as const;

/** Whatever is not here begins at 0. */
const LEAST: Readonly<Record<string, number>> = { maxAttempts: 1, factor: 1 };

/** Refuses numbers of a retry that are out of their range. `owner` is what stands before a field in the complaint. */
export function checkRetryNumbers(
  owner: string,
  numbers: Readonly<Record<string, number | undefined>>,
): void {
  for (const [field, value] of Object.entries(numbers)) {
    const least = LEAST[field] ?? 0;
    if (value === undefined || (Number.isFinite(value) && value >= least)) continue;
    throw new HeddleError(
      "CONFIG_INVALID",
      `${owner}${field} must be a number of at least ${least}, not ${value}.`,
      { details: { option: field } },
    );
  }
}

export interface Backoff {
  readonly baseDelayMs: number;
  readonly factor: number;
  readonly maxDelayMs: number;
  readonly jitter: boolean;
}

/**
 * Milliseconds after the n-th failure, counted from 1: `baseDelayMs * factor^(n-1)`, at most `maxDelayMs`. With jitter, up to
 * half of it is taken off ("equal jitter": M. Brooker, Exponential Backoff And Jitter, AWS 2015), by a hash of `seed` and n.
 */
export function backoffDelay(
  { baseDelayMs, factor, maxDelayMs, jitter }: Backoff,
  failures: number,
  seed: string,
): number {
  const full = Math.min(baseDelayMs * factor ** (failures - 1), maxDelayMs);
  // Zero times a factor that grew to infinity; and whatever a policy that no builder checked may say. A timer needs a time.
  if (!(full >= 0)) return 0;
  if (!jitter) return full;
  return full - Math.round((full / 2) * (fnv1a(`${seed}#${failures}`) / 2 ** 32));
}
