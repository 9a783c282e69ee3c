export { invalid, readThreadOptions, type ThreadOptions } from "./options.js";
export type { PartitionThreadInspection, PartitionThreadStats } from "./stats.js";
export { ThreadPartitions } from "./thread-partitions.js";
