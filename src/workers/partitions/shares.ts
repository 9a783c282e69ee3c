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
  const { minThreads, maxThreads, maxQueue, maxQueueBytes } = options;
  return {
    ...options,
    minThreads: share(minThreads, threads),
    maxThreads: share(maxThreads, threads),
    maxQueue: share(maxQueue, threads),
    maxQueueBytes: share(maxQueueBytes, threads),
    module: String(module),
    entry: entry && String(entry),
  };
}

export function shareOfLimits(limits: TuneOptions, threads: number): TuneOptions {
  checkTune(limits);
  readLimits(limits);
  const { minThreads, maxThreads, maxQueue, maxQueueBytes, ...rest } = limits;
  return {
    ...rest,
    ...(minThreads !== undefined && { minThreads: share(minThreads, threads) }),
    ...(maxThreads !== undefined && { maxThreads: share(maxThreads, threads) }),
    ...(maxQueue !== undefined && { maxQueue: share(maxQueue, threads) }),
    ...(maxQueueBytes !== undefined && { maxQueueBytes: share(maxQueueBytes, threads) }),
  };
}

function share(limit: number | undefined, threads: number): number | undefined {
  return limit === undefined || limit === 0 ? limit : Math.max(1, Math.floor(limit / threads));
}
