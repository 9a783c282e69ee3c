// Backoff: how long to wait before the next attempt. Pure: the same execution waits the same times on every machine.

import { HeddleError } from "./errors.js";
import { fnv1a } from "./ids.js";

/** Where nothing else is said. */
export const BACKOFF = { baseDelayMs: 200, factor: 2, maxDelayMs: 30_000 } as const;

/** The least an option may be, or what else it is. */
export type RetryOption = number | "flag" | "function";

/** Of every retry. */
export const BACKOFF_OPTIONS = { baseDelayMs: 0, factor: 1, maxDelayMs: 0, jitter: "flag" } as const;

/**
 * Refuses options of a retry that there are not, and values they cannot have: taken for the default, they would be noticed when
 * something fails. `owner` is what stands before an option in the complaint.
 */
export function checkRetryOptions(
  owner: string,
  options: object,
  known: Readonly<Record<string, RetryOption>>,
): void {
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const complaint = Object.hasOwn(known, option)
      ? complaintAbout(known[option]!, value)
      : `is no option. There are: ${Object.keys(known).join(", ")}`;
    if (complaint === undefined) continue;
    throw new HeddleError("CONFIG_INVALID", `${owner}${option} ${complaint}.`, { details: { option } });
  }
}

function complaintAbout(expected: RetryOption, value: unknown): string | undefined {
  if (expected === "flag") return typeof value === "boolean" ? undefined : "must be true or false";
  if (expected === "function") return typeof value === "function" ? undefined : "must be a function";
  if (Number.isFinite(value) && (value as number) >= expected) return undefined;
  return `must be a number of at least ${expected}, not ${String(value)}`;
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
