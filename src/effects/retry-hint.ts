// Retry hints: what a failure itself says of being tried again. Read where the error is still whole, and kept on it as plain
// properties, so that the hint survives threads and restarts (C-EFF-06).

/** Properties an error may carry, by whatever name its class goes. */
export interface RetryHint {
  /** False: trying again cannot help. */
  readonly retryable?: boolean | undefined;
  /** Not before so many milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
}

const NONE: RetryHint = {};

/**
 * The hint of a failure: its own `retryable` and `retryAfterMs`, or else the `retry-after-ms` or `retry-after` header of the
 * response it carries, as the clients of web services hang it on their errors (RFC 9110, section 10.2.3).
 *
 * @param now milliseconds since the epoch, for headers that give a date
 */
export function retryHintOf(failure: unknown, now: number): RetryHint {
  if (typeof failure !== "object" || failure === null) return NONE;
  const { retryable, retryAfterMs } = failure as { retryable?: unknown; retryAfterMs?: unknown };
  const own = isDelay(retryAfterMs) ? retryAfterMs : afterHeader(failure, now);
  if (typeof retryable !== "boolean" && own === undefined) return NONE;
  return { retryable: typeof retryable === "boolean" ? retryable : undefined, retryAfterMs: own };
}

/** Writes the hint down as own properties of the error, where the codec keeps it. */
export function keepRetryHint(failure: unknown, now: number): void {
  const { retryAfterMs } = retryHintOf(failure, now);
  if (retryAfterMs === undefined || !Object.isExtensible(failure)) return;
  try {
    Object.assign(failure as object, { retryAfterMs });
  } catch {
    // A property that cannot be set: the hint is lost, the failure is not.
  }
}

function afterHeader(failure: object, now: number): number | undefined {
  const { headers, response } = failure as { headers?: unknown; response?: { headers?: unknown } | null };
  const all = headers ?? (typeof response === "object" ? response?.headers : undefined);
  const milliseconds = Number(headerOf(all, "retry-after-ms") ?? Number.NaN);
  if (isDelay(milliseconds)) return milliseconds;
  const after = headerOf(all, "retry-after");
  if (after === undefined) return undefined;
  const seconds = Number(after);
  const delay = Number.isNaN(seconds) ? Date.parse(after) - now : seconds * 1_000;
  return isDelay(delay) ? delay : undefined;
}

function headerOf(headers: unknown, name: string): string | undefined {
  if (typeof headers !== "object" || headers === null) return undefined;
  try {
    const value: unknown =
      headers instanceof Headers ? headers.get(name) : (headers as Record<string, unknown>)[name];
    return typeof value === "string" && value.trim() !== "" ? value : undefined;
  } catch {
    return undefined; // a getter that throws
  }
}

function isDelay(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
