// Measurement: a setting of the pool, and what the effect did under it. Plain data: what to try next, the class of the
// effect and the recommendation are made of nothing else.

export interface Setting {
  readonly threads: number;
  readonly callsPerThread: number;
  /** `packet.maxCalls`. */
  readonly packetCalls: number;
}

export interface Measurement {
  readonly setting: Setting;
  /** Calls that completed a second. */
  readonly throughput: number;
  readonly completed: number;
  readonly failed: number;
  /** The first failure, in a line. */
  readonly failure: string | undefined;
  /** From when a call is made in the host to when its result is there. */
  readonly latencyMs: { readonly mean: number; readonly p50: number; readonly p99: number };
  /** Of one call, in its thread, from beginning to end; with others at work on the thread it includes them. */
  readonly runMs: number;
  /** For how long one call kept an event loop of the pool from anything else. */
  readonly heldMs: number;
  /** Processor time of the whole process for one call. */
  readonly cpuMs: number;
  /** The share of the time the threads' event loops were busy, 0 to 1: the mean of the threads. */
  readonly utilization: number;
  /** By how much the event loop of the thread that did worst was late. */
  readonly loopDelayMs: { readonly p99: number; readonly max: number };
  /** Of the thread that used most. */
  readonly heapBytes: number;
  readonly lostThreads: number;
  /** How long the pool took to open with all its threads, the module loaded. */
  readonly openMs: number;
}

export function inFlightOf({ threads, callsPerThread }: Setting): number {
  return threads * callsPerThread;
}

export function failedShare({ completed, failed }: Measurement): number {
  return failed === 0 ? 0 : failed / (completed + failed);
}

/** An effect that fails now and then may; one that fails more often the more is asked of it is asked too much. */
export function isOverasked(measurement: Measurement, baseline: Measurement): boolean {
  return failedShare(measurement) > failedShare(baseline) + FAILED_MORE;
}

const FAILED_MORE = 0.01;

export function fastest(measurements: readonly Measurement[]): Measurement | undefined {
  return measurements.reduce<Measurement | undefined>(
    (best, each) => (best && best.throughput >= each.throughput ? best : each),
    undefined,
  );
}
