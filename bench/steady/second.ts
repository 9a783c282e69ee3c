// Second: what is looked at each second of a steady load.

import { readFileSync, statSync } from "node:fs";
import { quantile } from "../harness/quantile.js";

export interface Second {
  /** Since the load began. */
  readonly atS: number;
  /** That ended in it. */
  readonly perSecond: number;
  readonly underWay: number;
  /** Of those that ended in it, from the scheduled moment; nothing when none did. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly rssMB: number;
  /** Of the resident memory what is not mapped from files: the log is, and grows. Where the system does not tell, all of it. */
  readonly ownMB: number;
  readonly heapMB: number;
  /** On the disk. */
  readonly logMB: number;
}

/** Counts what ends, and empties itself each time it is looked at. */
export class Window {
  #latenciesMs = new Float64Array(1_024);
  #count = 0;
  #lookedAt = performance.now();
  underWay = 0;

  ended(latencyMs: number): void {
    if (this.#count === this.#latenciesMs.length) {
      const larger = new Float64Array(2 * this.#count);
      larger.set(this.#latenciesMs);
      this.#latenciesMs = larger;
    }
    this.#latenciesMs[this.#count++] = latencyMs;
  }

  look(atS: number, dataFile: string): Second {
    const now = performance.now();
    const latencies = [this.#latenciesMs.subarray(0, this.#count)];
    const { rss, heapUsed } = process.memoryUsage();
    const second: Second = {
      atS,
      perSecond: (this.#count * 1_000) / (now - this.#lookedAt),
      underWay: this.underWay,
      p50Ms: this.#count === 0 ? undefined : quantile(latencies, 0.5),
      p99Ms: this.#count === 0 ? undefined : quantile(latencies, 0.99),
      rssMB: rss / 1e6,
      ownMB: (ownBytes() ?? rss) / 1e6,
      heapMB: heapUsed / 1e6,
      logMB: statSync(dataFile).size / 1e6,
    };
    this.#count = 0;
    this.#lookedAt = now;
    return second;
  }
}

function ownBytes(): number | undefined {
  if (process.platform !== "linux") return undefined;
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
}
