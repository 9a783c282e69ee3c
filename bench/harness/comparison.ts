// Comparison: this run and an earlier one, by ratio: what the machine did that day is in both sides of a ratio.

import { isTargetMet, isTime, type Report, type Row } from "./report.js";
import { type Column, renderTable, type TableStyle } from "./table.js";

export interface Change {
  readonly id: string;
  readonly before: number;
  readonly after: number;
  /** Positive when it got better, whichever way the ratio goes. */
  readonly gainPercent: number;
  readonly verdict: "regression" | "better" | "same";
  /** What was promised held before and does not now. A promise made since counts by the one that stands now. */
  readonly isTargetLost: boolean;
}

export const TOLERANCE_PERCENT = 10;

/** The rows that both runs have. */
export function compareReports(before: Report, after: Report): Change[] {
  const earlier = new Map(before.rows.map((row) => [row.id, row]));
  return after.rows.flatMap((row) => {
    const old = earlier.get(row.id);
    return old ? [changeOf(old, row)] : [];
  });
}

function changeOf(old: Row, row: Row): Change {
  const before = old.ratio.median;
  const after = row.ratio.median;
  const risePercent = (after / before - 1) * 100;
  const gainPercent = isTime(row) ? -risePercent : risePercent;
  const verdict =
    gainPercent < -TOLERANCE_PERCENT ? "regression" : gainPercent > TOLERANCE_PERCENT ? "better" : "same";
  const { target } = row;
  const isTargetLost = target !== undefined && isTargetMet({ ...old, target }) === true && !isTargetMet(row);
  return { id: row.id, before, after, gainPercent, verdict, isTargetLost };
}

const COLUMNS: readonly Column<Change>[] = [
  { heading: "row", align: "left", cell: ({ id }) => id },
  { heading: "ratio before", align: "right", cell: ({ before }) => before.toFixed(2) },
  { heading: "now", align: "right", cell: ({ after }) => after.toFixed(2) },
  {
    heading: "gain",
    align: "right",
    cell: ({ gainPercent }) => `${gainPercent > 0 ? "+" : ""}${gainPercent.toFixed(0)} %`,
  },
  {
    heading: "",
    align: "left",
    cell: ({ verdict, isTargetLost }) =>
      [
        ...(verdict === "same" ? [] : [verdict === "regression" ? "REGRESSION" : verdict]),
        ...(isTargetLost ? ["target lost"] : []),
      ].join(", "),
  },
];

export function presentChanges(
  changes: readonly Change[],
  before: Report,
  after: Report,
  style: TableStyle,
): string {
  const title = `Compared with the run of ${before.date}`;
  const parts = [style === "markdown" ? `### ${title}` : `${title}\n${"=".repeat(title.length)}`];
  const differences = differencesOf(before, after);
  if (differences.length > 0) parts.push(`The runs are not alike: ${differences.join(", ")}.`);
  parts.push(
    ...missing("Only in the earlier run", before, after),
    ...missing("Only in this run", after, before),
  );
  if (changes.length === 0) return [...parts, "They have no row in common."].join("\n\n");
  const regressions = changes.filter(({ verdict }) => verdict === "regression").length;
  parts.push(renderTable(COLUMNS, changes, style));
  parts.push(`${regressions} of ${changes.length} ratios are worse by more than ${TOLERANCE_PERCENT} %.`);
  return parts.join("\n\n");
}

function missing(title: string, from: Report, to: Report): string[] {
  const known = new Set(to.rows.map(({ id }) => id));
  const ids = from.rows.map(({ id }) => id).filter((id) => !known.has(id));
  return ids.length === 0 ? [] : [`${title}: ${ids.join(", ")}.`];
}

/** What makes ratios of two runs hard to compare. */
function differencesOf(before: Report, after: Report): string[] {
  const facts = (report: Report): Readonly<Record<string, string>> => ({
    effort: report.quick ? "--quick" : "full",
    cores: `${report.machine.cores} cores`,
    processor: report.machine.model,
    fileSystem: report.machine.fileSystem,
    node: `Node ${report.versions.node}`,
    lmdb: `lmdb ${report.versions.lmdb}`,
  });
  const now = facts(after);
  return Object.entries(facts(before)).flatMap(([name, then]) =>
    then === now[name] ? [] : [`${then} then, ${now[name] ?? ""} now`],
  );
}
