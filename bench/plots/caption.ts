// Caption: what stands under the title of every plot, because a figure without its machine says nothing.

import type { Report } from "../harness/report.js";

export type Run = Pick<Report, "date" | "versions" | "machine"> & { readonly quick?: boolean };

export function captionOf({ date, versions, machine, quick = false }: Run): string[] {
  const { cores, model, fileSystem, diskFlushMs } = machine;
  const lines = [
    `${cores} cores, ${model}; ${fileSystem}, 4 KiB written and flushed in ${diskFlushMs.toPrecision(2)} ms`,
    `heddle ${versions.heddle}, Node ${versions.node}, lmdb ${versions.lmdb}; ${date.slice(0, 10)}`,
  ];
  return quick ? [...lines, "A --quick run: the figures mean nothing."] : lines;
}

/** "12", "4.5k", "1.2M": as short as an axis needs it. */
export function short(value: number): string {
  if (value >= 1e6) return `${trimmed(value / 1e6)}M`;
  if (value >= 1e3) return `${trimmed(value / 1e3)}k`;
  return trimmed(value);
}

/** "0.05 ms", "20 ms", "3 s" */
export function shortTime(ms: number): string {
  return ms >= 1_000 ? `${trimmed(ms / 1_000)} s` : `${trimmed(ms)} ms`;
}

function trimmed(value: number): string {
  return String(Number(value.toPrecision(3)));
}
