export type { PoolCall, PoolOutcome, WireCall } from "./call.js";
export type { EffectDescription, RunningCall, ThreadFigures } from "./control.js";
export { EffectPool } from "./effect-pool.js";
export type { EffectPoolOptions, PacketOptions, TuneOptions } from "./options.js";
export type { PoolStats, ThreadStats } from "./stats.js";
