// Presentation: a report of the comparison in words, for a terminal or for a page.

import { busyLines, machineLine, significant } from "../harness/presentation.js";
import { quantile } from "../harness/quantile.js";
import { type Column, renderTable, type TableStyle } from "../harness/table.js";
import type { Measured } from "./in-own-process.js";
import type { Percentiles } from "./measurement.js";
import type { PeerReport, PeerRow } from "./report.js";
import type { Durability } from "./system.js";

const WHEN: Record<Durability, string> = {
  flush: "on the disk",
  commit: "with the operating system",
  memory: "in memory, without a flush",
};

type MeasuredRow = { readonly name: string } & Measured;

const COLUMNS: readonly Column<MeasuredRow>[] = [
  { heading: "system", align: "left", cell: ({ name }) => name },
  { heading: "version", align: "left", cell: ({ version }) => version },
  { heading: "at the answer it is", align: "left", cell: ({ durability }) => WHEN[durability] },
  { heading: "executions/s", align: "right", cell: ({ rates }) => rateOf(rates) },
  { heading: "least to most", align: "right", cell: ({ rates }) => rangeOf(rates) },
  { heading: "in flight", align: "right", cell: ({ inFlight }) => String(inFlight) },
  { heading: "then p50 / p99 ms", align: "right", cell: ({ underLoad }) => percentiles(underLoad) },
  { heading: "alone p50 / p99 ms", align: "right", cell: ({ alone }) => percentiles(alone) },
];

export function presentPeers(report: PeerReport, style: TableStyle): string {
  const measured = report.rows.filter((row): row is MeasuredRow => row.kind === "measured");
  const parts = [header(report).join(style === "markdown" ? "\n\n" : "\n")];
  if (measured.length > 0) parts.push(renderTable(COLUMNS, measured, style));
  parts.push(report.rows.map((row) => `- ${about(row)}`).join("\n"));
  return parts.join("\n\n");
}

function header({ date, quick, node, machine }: PeerReport): string[] {
  const lines = [`One-step durable executions, all on Node ${node}; ${date}`, machineLine(machine)];
  if (quick) lines.push("A --quick run: it shows that the comparison works; its figures mean nothing.");
  return [...lines, ...busyLines(machine)];
}

function about(row: PeerRow): string {
  if (row.kind === "measured") return `${row.name}: ${row.configuration}. It reports ${row.evidence}.`;
  return `${row.name}: ${row.kind}: ${row.reason}`;
}

/** What is said while the rest is still being measured. */
export function told(row: PeerRow): string {
  if (row.kind === "measured")
    return `${row.name}: ${rateOf(row.rates)} executions/s with ${row.inFlight} in flight`;
  return about(row);
}

function rateOf(rates: readonly number[]): string {
  return rounded(quantile([Float64Array.from(rates)], 0.5));
}

function rangeOf(rates: readonly number[]): string {
  return `${rounded(Math.min(...rates))} to ${rounded(Math.max(...rates))}`;
}

function rounded(rate: number): string {
  return Math.round(rate).toLocaleString("en");
}

function percentiles({ p50Ms, p99Ms }: Percentiles): string {
  return `${significant(p50Ms)} / ${significant(p99Ms)}`;
}
