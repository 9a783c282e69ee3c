// The class of an effect: what it does with its thread while a call runs. Pure.
//
// A call takes `runMs` when it is alone, and keeps its thread from other work for `heldMs` of them, by the event-loop
// utilisation Node reports of the thread. The ratio of the two is all that sizing needs: 1 + wait / compute tasks keep a
// processor busy (Goetz et al., Java Concurrency in Practice, section 8.2), which is runMs / heldMs calls a thread here,
// because a call that waits lets its thread go.
//
// That utilisation is time spent outside the wait for events, and not processor time (Node's documentation of
// perf_hooks shows one of 1 for a thread that sleeps in spawnSync), so the processor time of the process is held beside it.
// A thread with little to do also spends more on each call than a busy one, on waking up for one: of an effect that
// waits, the lowest figure of all settings is nearest to the effect itself.

import { isOverasked, type Measurement } from "./measurement.js";

export type EffectKind = "cpu" | "io" | "mixed";

export interface EffectClass {
  readonly kind: EffectKind;
  /** The share of a call's time that it keeps its thread, 0 to 1. */
  readonly heldShare: number;
  readonly runMs: number;
  readonly heldMs: number;
  /** Of the process, when the call is alone. */
  readonly cpuMs: number;
  /** It waits without letting its thread go: a synchronous read, spawnSync. */
  readonly isBlocking: boolean;
  /** It computes somewhere else than on its thread: in libuv's threads, as crypto, zlib and fs do. */
  readonly isElsewhere: boolean;
}

/** From here on two calls on one thread are hardly faster than one after the other. */
const CPU_SHARE = 0.9;
/** Down from here ten and more calls fit on a thread. */
const IO_SHARE = 0.1;
/** Time a thread is held, and the processor hardly used: other programs on the machine do not explain that little. */
const BLOCKING_CPU_SHARE = 0.2;
const ELSEWHERE_SHARE = 0.3;
/** Of shorter calls the processor time says more about the hand-over than about them. */
const TELLING_MS = 1;

/** The first measurement is the one of a call alone. */
export function classOf(baseline: Measurement, others: readonly Measurement[] = []): EffectClass {
  const { runMs, cpuMs } = baseline;
  const isTelling = runMs >= TELLING_MS;
  const heldAlone = shareOf(baseline.heldMs, runMs);
  const isBlocking = isTelling && heldAlone > IO_SHARE && cpuMs < baseline.heldMs * BLOCKING_CPU_SHARE;
  const isElsewhere = isTelling && cpuMs - baseline.heldMs > runMs * ELSEWHERE_SHARE;
  const facts = { runMs, cpuMs, isBlocking, isElsewhere };
  if (isBlocking || heldAlone >= CPU_SHARE) {
    return { kind: isBlocking ? "io" : "cpu", heldShare: heldAlone, heldMs: baseline.heldMs, ...facts };
  }
  const sound = others.filter((each) => !isOverasked(each, baseline));
  const heldMs = Math.min(baseline.heldMs, ...sound.map((each) => each.heldMs));
  const heldShare = shareOf(heldMs, runMs);
  return { kind: heldShare <= IO_SHARE ? "io" : "mixed", heldShare, heldMs, ...facts };
}

/** How many calls keep one thread busy all the time. */
export function callsThatFill({ runMs, heldMs }: EffectClass): number {
  return heldMs === 0 ? Infinity : Math.max(1, runMs / heldMs);
}

function shareOf(heldMs: number, runMs: number): number {
  return runMs === 0 ? 1 : Math.min(1, heldMs / runMs);
}
