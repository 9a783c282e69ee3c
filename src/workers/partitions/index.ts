export { invalid, readThreadOptions, type ThreadOptions } from "./options.js";
export { ThreadPartitions } from "./thread-partitions.js";
