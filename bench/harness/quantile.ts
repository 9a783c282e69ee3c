/** The value that a share of all values is at or below, by nearest rank. `NaN` when there are none. */
export function quantile(values: readonly Float64Array[], share: number): number {
  const all = new Float64Array(values.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of values) {
    all.set(part, at);
    at += part.length;
  }
  all.sort();
  return all[Math.max(0, Math.ceil(share * all.length) - 1)] ?? Number.NaN;
}
