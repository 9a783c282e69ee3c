// What a pool tells of itself: plain data, for people and for whoever plots it.

import type { EffectKind, Placement } from "../../effects/index.js";
import type { ToolMode } from "../../kernel/index.js";
import type { LoopFigures } from "../loop-figures.js";
import type { QuantilesMs } from "./quantiles.js";

/** An effect as its module exports it. */
export interface EffectDescription {
  readonly id: string;
  readonly kind: EffectKind;
  readonly placement: Placement;
  readonly mode: ToolMode | undefined;
  readonly idempotent: boolean | undefined;
  /** The names of its declared failure channels. */
  readonly channels: readonly string[];
}

export interface ThreadStats {
  readonly id: number;
  /** Calls it has and has not finished. */
  readonly running: number;
  /** The share of the time since the last reading that its event loop was busy, from 0 to 1. */
  readonly utilisation: number;
  /** What the thread said of itself last; undefined until it has. */
  readonly figures: LoopFigures | undefined;
  /** False when it was asked and did not answer in time: an effect keeps it busy. An idle one is not asked. */
  readonly isResponding: boolean;
}

export interface PoolStats {
  readonly threads: readonly ThreadStats[];
  readonly running: number;
  readonly queued: number;
  /** About how much memory the inputs of queued calls take. */
  readonly queuedBytes: number;
  /** Executions that have calls in the queue. */
  readonly executionsQueued: number;
  readonly done: number;
  /** From when a call was made to when its effect began. */
  readonly waitMs: QuantilesMs;
  readonly runMs: QuantilesMs;
  readonly lostThreads: number;
  /** Calls that had started and ran again because of a neighbour. */
  readonly reruns: number;
}

export interface RunningCall {
  readonly effectId: string;
  readonly executionId: string;
  readonly stepId: string;
  readonly attempt: number;
  readonly runningMs: number;
}

/** What runs in each thread. */
export type PoolInspection = readonly { readonly threadId: number; readonly calls: readonly RunningCall[] }[];
