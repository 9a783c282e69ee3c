export type { PoolCall } from "./call.js";
export { EffectPool } from "./effect-pool.js";
export type { EffectPoolOptions, TuneOptions } from "./options.js";
export type { EffectDescription, PoolInspection, PoolStats } from "./report.js";
