// Quantiles: durations counted in buckets that are an eighth of a power of two wide, from a microsecond to an hour. Of
// fixed size and cheap enough to record every call: a recorded value is off by less than 12 %.

const STEPS = 8;
const STEP_BITS = 3;
const BUCKETS = 32 * STEPS;

export interface QuantilesMs {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export class Quantiles {
  readonly #buckets = new Float64Array(BUCKETS);
  #count = 0;
  #maxMs = 0;

  record(durationMs: number): void {
    this.#count += 1;
    if (durationMs > this.#maxMs) this.#maxMs = durationMs;
    const bucket = bucketOf(durationMs * 1_000);
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1;
  }

  read(): QuantilesMs {
    return { count: this.#count, p50: this.#at(0.5), p99: this.#at(0.99), max: this.#maxMs };
  }

  #at(share: number): number {
    let left = Math.ceil(share * this.#count);
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.#buckets[bucket] as number;
      if (left <= 0) return this.#count === 0 ? 0 : Math.min(upperUs(bucket) / 1_000, this.#maxMs);
    }
    return this.#maxMs;
  }
}

/** Below eight every microsecond has its bucket; above, the power of two and the three bits after the first one. */
function bucketOf(us: number): number {
  const whole = Math.min(us, 2 ** 32 - 1) >>> 0;
  if (whole < STEPS) return whole;
  const power = 31 - Math.clz32(whole);
  return (power - STEP_BITS + 1) * STEPS + ((whole >>> (power - STEP_BITS)) & (STEPS - 1));
}

function upperUs(bucket: number): number {
  if (bucket < STEPS) return bucket + 1;
  const power = Math.floor(bucket / STEPS) + STEP_BITS - 1;
  return 2 ** power * (1 + ((bucket % STEPS) + 1) / STEPS);
}
