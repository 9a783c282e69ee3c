// Shares: limits of a whole app, divided among its partition threads. Each thread gets at least one of everything.
//
// What a user wrote is checked before it is divided: a share may be in order where the whole is not.

import type { AdmissionOptions } from "../../actors/index.js";
import {
  checkTune,
  type EffectPoolOptions,
  readLimits,
  readSettings,
  type TuneOptions,
} from "../pool/options.js";
import type { PoolSettings } from "./setup.js";

const DIVIDED = ["minThreads", "maxThreads", "maxQueue", "maxQueueBytes"] as const;

export function shareOfAdmission(options: AdmissionOptions, threads: number): AdmissionOptions {
  const { maxInFlight, maxWaitingBytes, ...rest } = options;
  return {
    ...rest,
    maxInFlight: share(maxInFlight, threads),
    maxWaitingBytes: share(maxWaitingBytes, threads),
  };
}

/** The pool of each thread, with its URLs as text so that they can cross. Left out: what stays in the host. */
export function shareOfPool(pool: EffectPoolOptions, threads: number): PoolSettings {
  readSettings(pool);
  readLimits(pool);
  const { clock: _, module, entry, ...options } = pool;
  return { ...divided(options, threads), module: String(module), entry: entry && String(entry) };
}

export function shareOfLimits(limits: TuneOptions, threads: number): TuneOptions {
  checkTune(limits);
  readLimits(limits);
  return divided(limits, threads);
}

/** What is not there stays away: it has a default, or the value it had. */
function divided<T extends TuneOptions>(limits: T, threads: number): T {
  const shares = DIVIDED.filter((name) => limits[name] !== undefined);
  return { ...limits, ...Object.fromEntries(shares.map((name) => [name, share(limits[name], threads)])) };
}

function share(limit: number | undefined, threads: number): number | undefined {
  return limit === undefined || limit === 0 ? limit : Math.max(1, Math.floor(limit / threads));
}
