export {
  invalid as invalidWorkers,
  type PartitionThreadInspection,
  type PartitionThreadStats,
  readThreadOptions,
  type ThreadOptions,
  ThreadPartitions,
} from "./partitions/index.js";
export type { EffectPoolOptions, PoolInspection, PoolStats, TuneOptions } from "./pool/index.js";
export { PooledEffects } from "./pooled-effects.js";
