// Made-up effects for the deciding half of `heddle tune`: what each setting would measure, by arithmetic.

import type { Measurement, Setting } from "../../src/cli/tune/measurement.js";
import { nextSetting, type PlanLimits } from "../../src/cli/tune/plan.js";

export interface MadeUp {
  /** How long a call keeps its thread, and how long it waits beside that. */
  readonly heldMs: number;
  readonly waitMs: number;
  readonly processors?: number;
  /** More at a time fail. */
  readonly inFlightMax?: number;
  /** Of the process; default: as long as the thread is held. */
  readonly cpuMs?: number;
  /** The share of calls that fail whatever the setting. */
  readonly flaky?: number;
  readonly openMs?: number;
  /** How packets of this size change the throughput. */
  readonly packetGain?: (packetCalls: number) => number;
}

export function measurementOf(effect: MadeUp, setting: Setting): Measurement {
  const { heldMs, waitMs, processors = 2, inFlightMax = Infinity, flaky = 0, openMs = 60 } = effect;
  const inFlight = setting.threads * setting.callsPerThread;
  const runMs = heldMs + waitMs;
  const atOnce = inFlight / runMs;
  const atMost = heldMs === 0 ? Infinity : Math.min(setting.threads, processors) / heldMs;
  const perMs = Math.min(atOnce, atMost) * (effect.packetGain?.(setting.packetCalls) ?? 1);
  const failedShare = inFlight > inFlightMax ? 0.5 : flaky;
  const latency = inFlight / perMs;
  return {
    setting,
    throughput: perMs * 1_000 * (1 - failedShare),
    completed: 1_000 * (1 - failedShare),
    failed: 1_000 * failedShare,
    failure: failedShare > 0 ? "Error: made up" : undefined,
    latencyMs: { mean: latency, p50: latency, p99: latency * 1.2 },
    runMs: latency,
    heldMs,
    cpuMs: effect.cpuMs ?? heldMs,
    utilization: Math.min(1, (perMs * heldMs) / setting.threads),
    loopDelayMs: { p99: 1, max: 2 },
    heapBytes: 1,
    lostThreads: 0,
    openMs,
  };
}

export const TIME: PlanLimits = {
  maxThreads: 2,
  maxCallsPerThread: 256,
  budget: { kind: "time", ms: 1_000 },
};

/** What the plan has measured in the end. */
export function follow(effect: MadeUp, limits: PlanLimits = TIME): Measurement[] {
  const measured: Measurement[] = [];
  for (let next = nextSetting(measured, limits); next; next = nextSetting(measured, limits)) {
    measured.push(measurementOf(effect, next));
    if (measured.length > 100) throw new Error("The plan does not end.");
  }
  return measured;
}

/** "threads x calls", and the packet where it is not the usual one. */
export function words({ threads, callsPerThread, packetCalls }: Setting): string {
  return `${threads}x${callsPerThread}${packetCalls === 64 ? "" : `/${packetCalls}`}`;
}
