export type { PoolCall, PoolOutcome, WireCall } from "./call.js";
export { EffectPool } from "./effect-pool.js";
export type { EffectPoolOptions, PacketOptions, TuneOptions } from "./options.js";
export type {
  EffectDescription,
  PoolInspection,
  PoolStats,
  RunningCall,
  ThreadFigures,
  ThreadStats,
} from "./report.js";
