export {
  invalid as invalidWorkers,
  readThreadOptions,
  type ThreadOptions,
  ThreadPartitions,
} from "./partitions/index.js";
export { PooledEffects } from "./pooled-effects.js";
