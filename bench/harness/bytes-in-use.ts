// Bytes in use: heap, and what hangs outside of it, after a forced collection. Not the pages of LMDB: those are the system's cache.

import { setImmediate as nextTurn } from "node:timers/promises";

export async function bytesInUse(): Promise<number> {
  if (!globalThis.gc)
    throw new Error("Memory is measured after a forced collection: start node with --expose-gc.");
  // Twice: what one collection finalizes the next one frees.
  for (let n = 0; n < 2; n++) {
    await nextTurn();
    globalThis.gc();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
