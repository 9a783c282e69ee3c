// What a thread says of its event loop and its heap.

import { monitorEventLoopDelay } from "node:perf_hooks";

export interface LoopFigures {
  /** By how much the thread's event loop was late, in milliseconds, since the thread began. */
  readonly eventLoopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
}

/** Begins to watch the event loop of this thread. Returns the way to read what was seen. */
export function watchLoop(resolutionMs: number): () => LoopFigures {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs);
  return () => {
    const { heapUsed, heapTotal } = process.memoryUsage();
    return {
      eventLoopDelayMs: {
        p50: late(delay.percentile(50)),
        p99: late(delay.percentile(99)),
        max: late(delay.max),
      },
      heapUsedBytes: heapUsed,
      heapTotalBytes: heapTotal,
    };
  };
}
