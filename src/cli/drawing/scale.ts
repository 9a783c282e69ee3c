// Scale: where a value lies, and which values an axis names.

export type Scale = (value: number) => number;

/** From a range of values to a length on paper. A single value lies in the middle. */
export function scale(
  [from, to]: readonly [number, number],
  [start, length]: readonly [number, number],
): Scale {
  return (value) => start + length * (to === from ? 0.5 : (value - from) / (to - from));
}

const TICKS = 5;

/** From 0, in round steps. */
export function steps(values: readonly number[]): number[] {
  const most = Math.max(1e-9, ...values);
  const rough = most / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, index) => index * step);
}

/** Powers of ten around all values. */
export function decades(values: readonly number[]): number[] {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) return [1, 10];
  const first = Math.floor(Math.log10(Math.min(...positive)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...positive))));
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
}
