// Quantiles: the value that a share of all values is at or below, by nearest rank.

/** `NaN` when there are no values. */
export function quantile(values: readonly Float64Array[], share: number): number {
  return atShare(sorted(values), share);
}

/** More of them the rarer it gets: the last ones say what the worst in ten thousand is like. */
const SHARES = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999, 1];

/** Pairs of share and value, as far as so many values can tell. */
export function quantileCurve(values: readonly Float64Array[]): [share: number, value: number][] {
  const all = sorted(values);
  return SHARES.filter((share) => share === 1 || (1 - share) * all.length >= 1).map((share) => [
    share,
    atShare(all, share),
  ]);
}

function sorted(values: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(values.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of values) {
    all.set(part, at);
    at += part.length;
  }
  return all.sort();
}

function atShare(all: Float64Array, share: number): number {
  return all[Math.max(0, Math.ceil(share * all.length) - 1)] ?? Number.NaN;
}
