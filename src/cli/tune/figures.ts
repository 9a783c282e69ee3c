// Figures in words: as many digits as a measurement is worth.

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 2 });

/** "12,840", "77", "0.42" */
export function count(value: number): string {
  return value < 10 && !Number.isInteger(value) ? fine.format(value) : grouped.format(value);
}

/** "0.08 ms", "5.1 ms", "340 ms", "2.4 s" */
export function duration(ms: number): string {
  if (ms >= 9_995) return `${grouped.format(ms / 1_000)} s`;
  if (ms >= 999.5) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms >= 99.5) return `${ms.toFixed(0)} ms`;
  return ms >= 1 ? `${ms.toFixed(1)} ms` : `${ms.toFixed(ms >= 0.01 || ms === 0 ? 2 : 3)} ms`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.01 ? 1 : 0)} %`;
}

/** "1 thread", "4 threads" */
export function many(number: number, noun: string): string {
  return `${grouped.format(number)} ${noun}${number === 1 ? "" : "s"}`;
}
