// The recommendation: settings for the pool, and why. Pure.
//
// The fewest threads that do nearly as much as any number did. On them, for an effect that computes, the fewest calls that do
// nearly as much as any number did: what is more waits on a thread instead of in the queue, and gains nothing. For one that
// waits, as many calls as the knee of the curve allows, where throughput over latency (Kleinrock's power, 1979) is highest:
// beyond it calls mostly wait for each other, and whatever the effect has open waits with them. The knee of a curve that only
// creeps up may lie low: a good part of what is possible is asked for all the same.

import { callsThatFill, classOf, type EffectClass } from "./effect-class.js";
import { count, duration, many, percent } from "./figures.js";
import { failedShare, fastest, inFlightOf, isOverasked, type Measurement } from "./measurement.js";
import { PACKET_CALLS } from "./plan.js";

export interface PoolAdvice {
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly callsPerThread: number;
  readonly packet: { readonly maxCalls: number; readonly maxDelayMs: number };
}

export interface Recommendation {
  readonly effect: EffectClass;
  readonly advice: PoolAdvice;
  /** One sentence. */
  readonly reason: string;
  /** What else one should know, a sentence or two each. */
  readonly notes: readonly string[];
  readonly chosen: Measurement;
}

export interface Surroundings {
  /** Processors the system offers. */
  readonly processors: number;
  readonly maxThreads: number;
  readonly maxCallsPerThread: number;
}

const NEARLY_OF_THREADS = 0.9;
const NEARLY_OF_CALLS = 0.95;
/** The top of the power curve is flat: of settings this near to it the one that does most is as good. */
const NEARLY_OF_POWER = 0.9;
const GOOD_PART = 2 / 3;
/** More calls that do this much more are worth a word. */
const WORTH_TELLING = 1.1;
/** Threads that are busy for more of the time than this are full, whatever the number of calls. */
const FULL = 0.8;
/** Another packet size has to do this much better than the default. */
const BETTER = 1.1;
/** A thread that takes longer to start is kept, so that no call waits for it. */
const SLOW_START_MS = 500;
/** To hand a call over and back takes about as long. */
const HAND_OVER_MS = 0.1;

/** Undefined when there is nothing measured that one could recommend. */
export function recommend(
  measured: readonly Measurement[],
  surroundings: Surroundings,
): Recommendation | undefined {
  const [baseline] = measured;
  if (!baseline) return undefined;
  const effect = classOf(baseline, measured);
  const sound = measured.filter((each) => each.completed > 0 && !isOverasked(each, baseline));
  const chosen = choose(sound, effect);
  if (!chosen) return undefined;
  const { threads, callsPerThread, packetCalls } = chosen.setting;
  const isSlowToStart = threads > 1 && baseline.openMs > SLOW_START_MS;
  return {
    effect,
    advice: {
      minThreads: isSlowToStart ? threads : 1,
      maxThreads: threads,
      callsPerThread,
      packet: { maxCalls: packetCalls, maxDelayMs: 0 },
    },
    reason: reasonFor(effect, chosen, baseline),
    notes: [
      ...notesOnThreads(chosen, measured, effect, surroundings, isSlowToStart ? baseline.openMs : undefined),
      ...notesOnCalls(chosen, sound, surroundings),
      ...notesOnPackets(chosen),
      ...notesOnFailures(measured, baseline),
    ],
    chosen,
  };
}

function choose(sound: readonly Measurement[], { kind }: EffectClass): Measurement | undefined {
  const usual = sound.filter(({ setting }) => setting.packetCalls === PACKET_CALLS);
  const best = fastest(usual);
  if (!best) return undefined;
  const enough = usual.filter(({ throughput }) => throughput >= best.throughput * NEARLY_OF_THREADS);
  const threads = Math.min(...enough.map(({ setting }) => setting.threads));
  const curve = usual
    .filter(({ setting }) => setting.threads === threads)
    .sort((a, b) => a.setting.callsPerThread - b.setting.callsPerThread);
  const useful = kind === "cpu" ? curve : atKnee(curve);
  const most = fastest(useful) ?? best;
  const first = useful.find(({ throughput }) => throughput >= most.throughput * NEARLY_OF_CALLS) ?? most;
  // Packets are tried at the fastest setting: they say nothing about another one.
  const otherPacket = fastest(sound.filter(({ setting }) => setting.packetCalls !== PACKET_CALLS));
  const isBetter = otherPacket && otherPacket.throughput >= best.throughput * BETTER;
  return isBetter && otherPacket.setting.threads === threads ? otherPacket : first;
}

function atKnee(curve: readonly Measurement[]): Measurement[] {
  // With a fixed number in flight the latency is that number over the throughput (Little's law).
  const power = ({ throughput, setting }: Measurement): number => throughput ** 2 / inFlightOf(setting);
  const most = fastest(curve)?.throughput ?? 0;
  const good = curve.filter(({ throughput }) => throughput >= most * GOOD_PART);
  const highest = Math.max(...good.map(power));
  return good.filter((each) => power(each) >= highest * NEARLY_OF_POWER);
}

function reasonFor(effect: EffectClass, chosen: Measurement, baseline: Measurement): string {
  const { setting, throughput, latencyMs, utilization } = chosen;
  const held = `${duration(effect.heldMs)} of its ${duration(effect.runMs)}`;
  const threads = many(setting.threads, "thread");
  const onThreads = setting.threads === 1 ? "on 1 thread" : `on each of ${threads}`;
  const calls = many(setting.callsPerThread, "call");
  const rate = `${count(throughput)} calls/s`;
  const times = (throughput / baseline.throughput).toFixed(1);
  if (effect.runMs < HAND_OVER_MS) {
    return `A call runs for ${duration(effect.runMs)}, less than it costs to hand it over, so what helps is to hand over many in one packet: ${calls} at a time ${onThreads} do ${rate}, against ${count(baseline.throughput)} one by one.`;
  }
  if (effect.isBlocking) {
    return `A call blocks its thread for ${held} and hardly computes, so only threads help: ${threads} ${does(setting.threads)} ${rate}, ${times} times what one call at a time does.`;
  }
  switch (effect.kind) {
    case "cpu":
      return `A call keeps its thread busy for ${percent(effect.heldShare)} of its ${duration(effect.runMs)}, so threads are what helps: ${threads} with ${calls} at a time${setting.threads === 1 ? "" : " each"} ${does(setting.threads)} ${rate}, and more calls on a thread would only wait for each other.`;
    case "io":
      return `A call keeps its thread for ${held} and waits the rest, so calls share a thread well: ${calls} at a time ${onThreads} do ${rate} with a p99 of ${duration(latencyMs.p99)}, ${busy(setting.threads, utilization)}.`;
    case "mixed":
      return `A call keeps its thread for ${held} and waits the rest, so about ${count(Math.round(callsThatFill(effect)))} fill one: ${calls} at a time ${onThreads} do ${rate} with a p99 of ${duration(latencyMs.p99)}, ${busy(setting.threads, utilization)}.`;
  }
}

function does(threads: number): string {
  return threads === 1 ? "does" : "do";
}

function busy(threads: number, utilization: number): string {
  return `${threads === 1 ? "the thread" : "the threads"} busy for ${percent(utilization)} of the time`;
}

function notesOnThreads(
  { setting }: Measurement,
  measured: readonly Measurement[],
  effect: EffectClass,
  { processors, maxThreads }: Surroundings,
  slowStartMs: number | undefined,
): string[] {
  const notes: string[] = [];
  const lost = measured.reduce((sum, { lostThreads }) => sum + lostThreads, 0);
  if (effect.isElsewhere) {
    notes.push(
      `Most of the ${duration(effect.cpuMs)} of processor time a call takes is not spent on its thread: crypto, zlib, dns and fs work on four threads that all of the process shares, whatever the pool has (UV_THREADPOOL_SIZE sets their number).`,
    );
  }
  if (effect.isBlocking && setting.threads === maxThreads) {
    notes.push(
      "Threads that only wait may be more than there are processors: measure with --max-threads, or better, make the call asynchronous.",
    );
  } else if (setting.threads >= processors && effect.kind !== "io") {
    notes.push(
      `That is a thread for each of the ${many(processors, "processor")}: the host has to share one. Take one thread less if the host must stay quick.`,
    );
  }
  if (slowStartMs !== undefined) {
    notes.push(
      `minThreads keeps all of them, because a thread takes ${duration(slowStartMs)} to start and load the module.`,
    );
  }
  if (lost > 0) notes.push(`${many(lost, "thread")} ended under the effect while it was measured.`);
  return notes;
}

function notesOnCalls(
  { setting, throughput, utilization }: Measurement,
  sound: readonly Measurement[],
  { maxCallsPerThread }: Surroundings,
): string[] {
  const { threads, callsPerThread, packetCalls } = setting;
  const isTop = callsPerThread === maxCallsPerThread && maxCallsPerThread > 1;
  const curve = sound.filter(
    (each) => each.setting.threads === threads && each.setting.packetCalls === packetCalls,
  );
  if (isTop && utilization < FULL && curve.some((each) => each.setting.callsPerThread < callsPerThread)) {
    return [
      `It was still getting faster at ${many(maxCallsPerThread, "call")} a thread, the most that was tried: --max-calls-per-thread tries more, if what it calls can take it.`,
    ];
  }
  const most = fastest(curve);
  if (!most || most.throughput < throughput * WORTH_TELLING) return [];
  return [
    `Where only the rate counts, ${many(most.setting.callsPerThread, "call")} a thread do ${count(most.throughput)} calls/s, with a p99 of ${duration(most.latencyMs.p99)}.`,
  ];
}

function notesOnPackets({ setting }: Measurement): string[] {
  if (setting.packetCalls === PACKET_CALLS) return [];
  return [
    `Calls this short cost more to hand over than to run: packets of ${setting.packetCalls} did better than the usual ${PACKET_CALLS}.`,
  ];
}

function notesOnFailures(measured: readonly Measurement[], baseline: Measurement): string[] {
  const overasked = measured.find((each) => isOverasked(each, baseline));
  if (overasked) {
    const { threads, callsPerThread } = overasked.setting;
    return [
      `With ${many(callsPerThread, "call")} at a time on ${threads === 1 ? "1 thread" : `each of ${threads} threads`}, ${percent(failedShare(overasked))} of the calls failed (${overasked.failure ?? "no reason given"}), so nothing like it is recommended.`,
    ];
  }
  const flaky = measured.find(({ failed }) => failed > 0);
  if (!flaky) return [];
  const failed = measured.reduce((sum, each) => sum + each.failed, 0);
  return [`${many(failed, "call")} failed, the first with: ${flaky.failure ?? "no reason given"}`];
}
