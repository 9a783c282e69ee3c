// Options of the effect pool, checked where they enter: every complaint names the option as a user wrote it.

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { ResourceLimits } from "node:worker_threads";
import { type Clock, TIMER_MS_MAX } from "../../kernel/clock.js";
import { VALUE_LIMITS, type ValueLimits } from "../../kernel/codec/index.js";
import { type HeddleError, invalidOption } from "../../kernel/errors.js";
import { checkOptionGroup } from "../../kernel/option-group.js";
import {
  checkNumber as checkNumberOption,
  checkResourceLimits,
  LOAD_TIMEOUT_MS,
  moduleUrl,
} from "../option-rules.js";
import { CALLS_MAX } from "./claims.js";

export interface PacketOptions {
  /** A packet leaves when it holds this many calls. Default 64. */
  readonly maxCalls?: number | undefined;
  /** How long a call may wait for others to share its packet, in milliseconds. Default 0: until the host's turn ends. */
  readonly maxDelayMs?: number | undefined;
}

/** What `tune` may change while the pool runs. */
export interface TuneOptions {
  /** Threads that stay when there is nothing to do. Default 1. */
  readonly minThreads?: number | undefined;
  /** Default: one less than the processors the system offers, at least 1. */
  readonly maxThreads?: number | undefined;
  /** Calls under way on one thread at a time; those that wait for the world share a thread well. Default 256. */
  readonly callsPerThread?: number | undefined;
  /** Calls that may wait for a thread; beyond it they are refused with OVERLOADED. Default 16,384. */
  readonly maxQueue?: number | undefined;
  /** About how many bytes their inputs may take together; the call that reaches it is the last. Default 64 MiB. */
  readonly maxQueueBytes?: number | undefined;
  /** After so long without work a thread beyond `minThreads` is ended, in milliseconds. Default 10,000. */
  readonly idleTimeoutMs?: number | undefined;
  readonly packet?: PacketOptions | undefined;
}

export interface EffectPoolOptions extends TuneOptions {
  /** The module whose export `effects` holds the effects by id: a URL, or an absolute path. */
  readonly module: URL | string;
  /** How long a call that is past its deadline may ignore its signal before its thread is ended. Default 5,000. */
  readonly graceMs?: number | undefined;
  /** How long the module may take to load, in milliseconds. Default 60,000. */
  readonly loadTimeoutMs?: number | undefined;
  /** Of each thread, as `new Worker` takes them. */
  readonly resourceLimits?: ResourceLimits | undefined;
  /** For hosts that bundle heddle: where `effects.worker.cjs` of the same version lies, with `effects.worker.js` beside it. */
  readonly entry?: URL | undefined;
  /** What inputs and results may cost. */
  readonly limits?: ValueLimits | undefined;
  /** Where the timers of deadlines come from. Default: the system. */
  readonly clock?: Pick<Clock, "after"> | undefined;
}

/** What `tune` can change, complete. */
export interface PoolLimits {
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly callsPerThread: number;
  readonly maxQueue: number;
  readonly maxQueueBytes: number;
  readonly idleTimeoutMs: number;
  readonly packet: { readonly maxCalls: number; readonly maxDelayMs: number };
}

export interface PoolSettings {
  readonly module: string;
  readonly entry: URL;
  readonly graceMs: number;
  readonly loadTimeoutMs: number;
  readonly resourceLimits: ResourceLimits | undefined;
  readonly limits: ValueLimits;
}

const GROUP = "workers.effects";

const DEFAULTS: PoolLimits = {
  minThreads: 1,
  maxThreads: Math.max(1, availableParallelism() - 1),
  callsPerThread: 256,
  maxQueue: 16_384,
  maxQueueBytes: 64 * 1024 * 1024,
  idleTimeoutMs: 10_000,
  packet: { maxCalls: 64, maxDelayMs: 0 },
};
const GRACE_MS = 5_000;
const TUNABLE = [
  "minThreads",
  "maxThreads",
  "callsPerThread",
  "maxQueue",
  "maxQueueBytes",
  "idleTimeoutMs",
  "packet",
];
const FIXED = ["module", "graceMs", "loadTimeoutMs", "resourceLimits", "entry", "limits", "clock"];

export function readSettings(options: EffectPoolOptions): PoolSettings {
  checkOptionGroup(GROUP, options, [...TUNABLE, ...FIXED]);
  const { module, graceMs, loadTimeoutMs, resourceLimits, limits = VALUE_LIMITS } = options;
  checkNumber("graceMs", graceMs, 0, TIMER_MS_MAX);
  checkNumber("loadTimeoutMs", loadTimeoutMs, 1, TIMER_MS_MAX);
  checkResourceLimits(`${GROUP}.resourceLimits`, resourceLimits);
  return {
    module: moduleUrl(`${GROUP}.module`, module, "effects.js"),
    entry: readEntry(options.entry),
    graceMs: graceMs ?? GRACE_MS,
    loadTimeoutMs: loadTimeoutMs ?? LOAD_TIMEOUT_MS,
    resourceLimits,
    limits,
  };
}

/** The limits with what `options` changes about them. */
export function readLimits(options: TuneOptions, base: PoolLimits = DEFAULTS): PoolLimits {
  checkNumber("maxThreads", options.maxThreads, 1, 1_024, true);
  checkNumber("minThreads", options.minThreads, 0, 1_024, true);
  checkNumber("callsPerThread", options.callsPerThread, 1, CALLS_MAX, true);
  checkNumber("maxQueue", options.maxQueue, 0, Number.MAX_SAFE_INTEGER, true);
  checkNumber("maxQueueBytes", options.maxQueueBytes, 1, Number.MAX_SAFE_INTEGER, true);
  checkNumber("idleTimeoutMs", options.idleTimeoutMs, 0, TIMER_MS_MAX);
  const { packet = {} } = options;
  checkOptionGroup(`${GROUP}.packet`, packet, ["maxCalls", "maxDelayMs"]);
  checkNumber("packet.maxCalls", packet.maxCalls, 1, CALLS_MAX, true);
  checkNumber("packet.maxDelayMs", packet.maxDelayMs, 0, 1_000);
  const maxThreads = options.maxThreads ?? Math.max(base.maxThreads, options.minThreads ?? 0);
  const minThreads = options.minThreads ?? Math.min(base.minThreads, maxThreads);
  if (minThreads > maxThreads) {
    throw invalid("maxThreads", `is ${maxThreads}, below ${GROUP}.minThreads, which is ${minThreads}`);
  }
  return {
    minThreads,
    maxThreads,
    callsPerThread: options.callsPerThread ?? base.callsPerThread,
    maxQueue: options.maxQueue ?? base.maxQueue,
    maxQueueBytes: options.maxQueueBytes ?? base.maxQueueBytes,
    idleTimeoutMs: options.idleTimeoutMs ?? base.idleTimeoutMs,
    packet: {
      maxCalls: packet.maxCalls ?? base.packet.maxCalls,
      maxDelayMs: packet.maxDelayMs ?? base.packet.maxDelayMs,
    },
  };
}

export function checkTune(options: TuneOptions): void {
  checkOptionGroup(GROUP, options, TUNABLE);
}

export function invalid(option: string, complaint: string, cause?: unknown): HeddleError {
  return invalidOption(`${GROUP}.${option}`, complaint, cause);
}

function readEntry(entry: unknown = new URL("../effects.worker.cjs", import.meta.url)): URL {
  if (!(entry instanceof URL) || entry.protocol !== "file:") {
    throw invalid("entry", 'must be a file URL, as in new URL("./effects.worker.cjs", import.meta.url)');
  }
  if (existsSync(entry)) return entry;
  throw invalid(
    "entry",
    `${entry.href} is not there. When heddle is bundled, keep its effects.worker.cjs as a file, effects.worker.js beside it, and give its URL`,
  );
}

function checkNumber(option: string, value: unknown, least: number, most: number, isWhole = false): void {
  checkNumberOption(`${GROUP}.${option}`, value, { least, most, isWhole });
}
