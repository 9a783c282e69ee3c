// Trial: one setting, measured on a pool of its own, so that nothing of the setting before is left in it.
//
// Threads compile what they run often, and connections are opened by the first calls: some calls go before those that count.

import type { EffectPool, EffectPoolOptions } from "../../workers/pool/index.js";
import { applyLoad, type LoadCount } from "./load.js";
import { inFlightOf, type Measurement, type Setting } from "./measurement.js";
import type { Budget } from "./plan.js";

export interface TrialOptions {
  readonly open: (options: Partial<EffectPoolOptions>) => Promise<EffectPool>;
  /** Makes one call, with the next input. */
  readonly call: (pool: EffectPool) => Promise<unknown>;
  readonly setting: Setting;
  readonly budget: Budget;
  readonly signal: AbortSignal;
}

const WARM_UP_MS_MAX = 500;
/** Effects that run when the command is interrupted may end in this time; then they are aborted. */
const INTERRUPTED_MS = 500;
/** The pool rounds how long calls ran; up from here the time seen from the host is the better one. */
const HAND_OVER_COUNTS_MS = 1;

/** Undefined when the signal ended it. */
export async function tryOut(options: TrialOptions): Promise<Measurement | undefined> {
  const { setting, signal } = options;
  const openedAt = performance.now();
  const pool = await options.open({
    minThreads: setting.threads,
    maxThreads: setting.threads,
    callsPerThread: setting.callsPerThread,
    packet: { maxCalls: setting.packetCalls },
  });
  try {
    return await measure(pool, options, performance.now() - openedAt);
  } finally {
    await pool.close({ deadlineMs: signal.aborted ? INTERRUPTED_MS : 0 });
  }
}

async function measure(
  pool: EffectPool,
  { call, setting, budget, signal }: TrialOptions,
  openMs: number,
): Promise<Measurement | undefined> {
  const load = { inFlight: inFlightOf(setting), call: () => call(pool), signal };
  await applyLoad({ ...load, budget: warmUp(budget, load.inFlight) });
  if (signal.aborted) return undefined;
  // Utilisation is that since the last reading: this one begins it, the one when all is counted ends it.
  await pool.stats();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const atEnd = () => ({
    stats: pool.stats(),
    cpu: process.cpuUsage(cpuBefore),
    elapsedMs: performance.now() - startedAt,
  });
  let window: ReturnType<typeof atEnd> | undefined;
  const counted = await applyLoad({ ...load, budget, onCounted: () => (window = atEnd()) });
  window ??= atEnd();
  const { threads } = await window.stats;
  if (!counted) return undefined;
  // Threads that were busy then have had no time to answer; now they have.
  const after = await pool.stats();
  const ended = Math.max(1, counted.completed + counted.failed);
  const utilization = mean(threads.map((thread) => thread.utilisation));
  const latencyMs = latencyOf(counted);
  const figures = after.threads.flatMap((thread) => thread.figures ?? []);
  return {
    setting,
    throughput: counted.elapsedMs === 0 ? 0 : (counted.completed / counted.elapsedMs) * 1_000,
    completed: counted.completed,
    failed: counted.failed,
    failure: counted.failed === 0 ? undefined : inALine(counted.failure),
    latencyMs,
    runMs: latencyMs.mean < HAND_OVER_COUNTS_MS ? Math.min(latencyMs.mean, after.runMs.p50) : latencyMs.mean,
    heldMs: (utilization * threads.length * window.elapsedMs) / ended,
    cpuMs: (window.cpu.user + window.cpu.system) / 1_000 / ended,
    utilization,
    loopDelayMs: {
      p99: Math.max(0, ...figures.map(({ eventLoopDelayMs }) => eventLoopDelayMs.p99)),
      max: Math.max(0, ...figures.map(({ eventLoopDelayMs }) => eventLoopDelayMs.max)),
    },
    heapBytes: Math.max(0, ...figures.map(({ heapUsedBytes }) => heapUsedBytes)),
    lostThreads: after.lostThreads,
    openMs,
  };
}

function warmUp(budget: Budget, inFlight: number): Budget {
  if (budget.kind === "calls") return { kind: "calls", calls: inFlight };
  return { kind: "time", ms: Math.min(WARM_UP_MS_MAX, budget.ms / 4) };
}

function latencyOf({ latenciesMs }: LoadCount): Measurement["latencyMs"] {
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { mean: mean(latenciesMs), p50: at(0.5), p99: at(0.99) };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length;
}

/** What an effect failed with, as a line says it. */
export function inALine(error: unknown): string {
  const [line = ""] = String(error).split("\n");
  return line;
}
