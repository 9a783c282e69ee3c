// Trend: whether a figure stayed the same over a long run, and how sure one can be of that.
//
// What follows a second is much like that second, so single samples would promise more than there is: the line is laid through the means
// of blocks, and its uncertainty comes from how these scatter around it.

const BLOCKS = 20;
/** Of Student's distribution, two-sided 95 %, for BLOCKS - 2 degrees of freedom. */
const STUDENT_95 = 2.101;
/** Of the mean: what growth over the whole run still counts as none. */
const TOLERANCE = 0.1;

export interface Trend {
  readonly mean: number;
  /** Along the fitted line, from the begin to the end of the run. */
  readonly growth: number;
  /** Half the 95 % confidence interval of the growth. */
  readonly error: number;
  /** "unknown": the run is too short, or too restless, to tell. */
  readonly verdict: "flat" | "grows" | "shrinks" | "unknown";
}

/** Of values taken at even distances. Fewer than forty tell nothing. */
export function trendOf(values: readonly number[]): Trend {
  const mean = meanOf(values);
  if (values.length < 2 * BLOCKS) return { mean, growth: Number.NaN, error: Number.NaN, verdict: "unknown" };
  const blocks = Array.from({ length: BLOCKS }, (_, n) => {
    return meanOf(
      values.slice(Math.floor((n * values.length) / BLOCKS), Math.floor(((n + 1) * values.length) / BLOCKS)),
    );
  });
  const middle = (BLOCKS - 1) / 2;
  const center = meanOf(blocks);
  const spread = sum(blocks.map((_, n) => (n - middle) ** 2));
  const slope = sum(blocks.map((value, n) => (n - middle) * (value - center))) / spread;
  const rest = sum(blocks.map((value, n) => (value - center - slope * (n - middle)) ** 2));
  const slopeError = STUDENT_95 * Math.sqrt(rest / (BLOCKS - 2) / spread);
  const growth = slope * BLOCKS;
  const error = slopeError * BLOCKS;
  return { mean, growth, error, verdict: verdictOf(growth, error, TOLERANCE * Math.abs(mean)) };
}

function verdictOf(growth: number, error: number, tolerated: number): Trend["verdict"] {
  if (Math.abs(growth) + error <= tolerated) return "flat";
  if (growth - error > tolerated) return "grows";
  if (growth + error < -tolerated) return "shrinks";
  return "unknown";
}

function meanOf(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
