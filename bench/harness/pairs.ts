// Pairs: the row of samples that were taken in pairs, as many as the question wanted: sizes, and times within one long run.

import { quantile } from "./quantile.js";
import type { Figures, Row } from "./report.js";

export interface Pairs {
  /** By round; each holds what was seen in it. */
  readonly ours: readonly Float64Array[];
  readonly theirs: readonly Float64Array[];
  readonly names: readonly [ours: string, theirs: string];
}

/** The ratio of a round is that of its medians. */
export function rowOfPairs(
  row: Pick<Row, "id" | "unit" | "sync" | "inFlight" | "course">,
  { ours, theirs, names }: Pairs,
): Row {
  const ratios = ours.map((sample, n) => medianOf(sample) / medianOf(theirs[n]!));
  const median = medianOf(Float64Array.from(ratios));
  const mad = medianOf(Float64Array.from(ratios, (ratio) => Math.abs(ratio - median)));
  return {
    ...row,
    rounds: ours.length,
    heddle: figures(names[0], ours),
    against: figures(names[1], theirs),
    ratio: { median, mad, min: Math.min(...ratios), max: Math.max(...ratios) },
  };
}

export function medianOf(sample: Float64Array): number {
  return quantile([sample], 0.5);
}

function figures(name: string, samples: readonly Float64Array[]): Figures {
  const p50 = quantile(samples, 0.5);
  const errorPercent = errorOf(samples.map(medianOf));
  return { name, median: p50, errorPercent, p50Ms: p50, p99Ms: quantile(samples, 0.99), sharedBy: 1 };
}

/** Of the mean of what the rounds found, as if they were many: the rounds of a row like these are too few to promise more. */
function errorOf(medians: readonly number[]): number {
  const mean = medians.reduce((sum, value) => sum + value, 0) / medians.length;
  const variance = medians.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (medians.length - 1);
  return (100 * 1.96 * Math.sqrt(variance / medians.length)) / mean;
}
