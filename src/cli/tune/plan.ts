// Plan: which setting to try next, decided by what the ones before have shown. Pure.
//
// For each number of threads the calls a thread has at a time go up in steps, as long as a step helps. Threads are added
// as long as they were what work waited for. An effect that both computes and waits is then tried with the number of calls
// that should just fill a thread, and one so short that handing it over is most of its cost with other packets.

import { callsThatFill, classOf } from "./effect-class.js";
import { fastest, inFlightOf, isOverasked, type Measurement, type Setting } from "./measurement.js";

/** What one setting may cost. */
export type Budget =
  | { readonly kind: "calls"; readonly calls: number }
  | { readonly kind: "time"; readonly ms: number };

export interface PlanLimits {
  readonly maxThreads: number;
  readonly maxCallsPerThread: number;
  readonly budget: Budget;
}

/** What all settings together ask of the effect at the most. */
export interface PlanCost {
  readonly settings: number;
  readonly inFlight: number;
  /** With the calls that warm each setting up; undefined when time bounds them, and nothing else. */
  readonly calls: number | undefined;
}

export const PACKET_CALLS = 64;

/** Steps of this size show every knee, and with few calls to pay for. */
const STEP = 4;
/** Less than this much more is no help: it may be chance. */
const GAIN = 1.1;
/** Threads that are idle for more of the time than this are not what calls wait for. */
const BUSY = 0.5;
/** So many times over the calls in flight have to be replaced before their rate says anything. */
const ROUNDS = 2;
/** Calls do not come one exactly when another one waits: a few more than fill a thread keep it full. */
const FILL = 1.25;
const SHORT_MS = 0.25;
const OTHER_PACKETS = [16, 256];

/** The next setting, or undefined when another one would tell nothing new. */
export function nextSetting(measured: readonly Measurement[], limits: PlanLimits): Setting | undefined {
  const [baseline] = measured;
  if (!baseline) return { threads: 1, callsPerThread: 1, packetCalls: PACKET_CALLS };
  const sound = measured.filter((each) => !isOverasked(each, baseline));
  const next =
    moreCalls(measured, baseline, limits) ??
    moreThreads(sound, measured, limits) ??
    justEnoughCalls(sound, baseline) ??
    otherPackets(sound, measured, baseline);
  return next && isAffordable(next, limits) ? next : undefined;
}

/** What it would come to if each step helped. */
export function costAtMost(limits: PlanLimits): PlanCost {
  const settings = threadSteps(limits)
    .flatMap((threads) => callSteps(limits).map((callsPerThread) => setting(threads, callsPerThread)))
    .filter((each) => isAffordable(each, limits));
  const inFlight = Math.max(...settings.map(inFlightOf));
  // Of those at the end none has more calls in flight than the largest one before.
  const atEnd = 1 + OTHER_PACKETS.length;
  const { budget } = limits;
  if (budget.kind === "time") return { settings: settings.length + atEnd, inFlight, calls: undefined };
  const warmUp = settings.reduce((sum, each) => sum + inFlightOf(each), 0) + atEnd * inFlight;
  const count = settings.length + atEnd;
  return { settings: count, inFlight, calls: count * budget.calls + warmUp };
}

function moreCalls(
  measured: readonly Measurement[],
  baseline: Measurement,
  limits: PlanLimits,
): Setting | undefined {
  const curve = lastCurve(measured, limits);
  const last = curve.at(-1);
  if (!last || isOverasked(last, baseline)) return undefined;
  const calls = callSteps(limits).find((step) => step > last.setting.callsPerThread);
  if (calls === undefined) return undefined;
  const before = fastest(curve.slice(0, -1));
  if (before && last.throughput < before.throughput * GAIN) return undefined;
  const next = setting(last.setting.threads, calls);
  return isAffordable(next, limits) ? next : undefined;
}

function moreThreads(
  sound: readonly Measurement[],
  measured: readonly Measurement[],
  limits: PlanLimits,
): Setting | undefined {
  const { threads } = (lastCurve(measured, limits).at(-1) as Measurement).setting;
  const more = threadSteps(limits).find((step) => step > threads);
  const now = fastest(sound.filter(({ setting }) => setting.threads === threads));
  if (more === undefined || !now || now.utilization < BUSY) return undefined;
  const before = fastest(sound.filter(({ setting }) => setting.threads < threads));
  if (before && now.throughput < before.throughput * GAIN) return undefined;
  const next = setting(more, 1);
  return isAffordable(next, limits) ? next : undefined;
}

function justEnoughCalls(sound: readonly Measurement[], baseline: Measurement): Setting | undefined {
  const effect = classOf(baseline, sound);
  const best = fastest(sound.filter(isUsual));
  if (effect.kind !== "mixed" || !best) return undefined;
  const { threads, callsPerThread } = best.setting;
  const enough = Math.ceil(callsThatFill(effect) * FILL);
  const isTried = sound.some(
    ({ setting }) => setting.threads === threads && setting.callsPerThread === enough,
  );
  return enough < callsPerThread && !isTried ? setting(threads, enough) : undefined;
}

function otherPackets(
  sound: readonly Measurement[],
  measured: readonly Measurement[],
  baseline: Measurement,
): Setting | undefined {
  const best = fastest(sound.filter(isUsual));
  if (!best || baseline.runMs > SHORT_MS) return undefined;
  const tried = new Set(measured.map(({ setting }) => setting.packetCalls));
  // A packet never holds more than the calls its thread may have.
  const packetCalls = OTHER_PACKETS.find(
    (calls) => !tried.has(calls) && calls <= best.setting.callsPerThread,
  );
  return packetCalls === undefined ? undefined : { ...best.setting, packetCalls };
}

/** The steps made with the number of threads tried last. */
function lastCurve(measured: readonly Measurement[], limits: PlanLimits): Measurement[] {
  const steps = new Set(callSteps(limits));
  const ladder = measured.filter((each) => isUsual(each) && steps.has(each.setting.callsPerThread));
  const threads = Math.max(...ladder.map(({ setting }) => setting.threads));
  return ladder.filter(({ setting }) => setting.threads === threads);
}

function isUsual({ setting }: Measurement): boolean {
  return setting.packetCalls === PACKET_CALLS;
}

function setting(threads: number, callsPerThread: number): Setting {
  return { threads, callsPerThread, packetCalls: PACKET_CALLS };
}

function isAffordable(setting: Setting, { budget }: PlanLimits): boolean {
  const inFlight = inFlightOf(setting);
  return budget.kind === "time" || inFlight === 1 || inFlight * ROUNDS <= budget.calls;
}

function callSteps({ maxCallsPerThread }: PlanLimits): number[] {
  return stepsTo(maxCallsPerThread, STEP);
}

function threadSteps({ maxThreads }: PlanLimits): number[] {
  return stepsTo(maxThreads, 2);
}

/** 1, and on by the factor; the last one is `most`. */
function stepsTo(most: number, factor: number): number[] {
  const steps: number[] = [];
  for (let step = 1; step < most; step *= factor) steps.push(step);
  return [...steps, most];
}
