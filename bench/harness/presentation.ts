// Presentation: a report in words, for a terminal or for a page.

import { isTargetMet, isTime, type Machine, type Report, type Row } from "./report.js";
import { type Column, renderTable, type TableStyle } from "./table.js";

interface Section {
  readonly title: string;
  readonly note: string;
  readonly shows: (row: Row) => boolean;
  readonly columns: readonly Column<Row>[];
}

/** A load per core, of other programs, that shows in the figures. */
const BUSY = 0.2;

const ROW: Column<Row> = left("row", ({ id }) => id);
const RATIO = right("ratio", ({ ratio }) => `${ratio.median.toFixed(2)} ± ${ratio.mad.toFixed(2)}`);
const DURABILITY: Column<Row> = left("durability", ({ sync }) => sync);
const TARGET: Column<Row> = left("target", target);
const CPU = right("CPU µs", (row) => `${cpu(row.heddle)} / ${cpu(row.against)}`);
const WRITTEN = right("KB written", (row) => `${written(row.heddle)} / ${written(row.against)}`);
const ROUNDS = right("rounds", ({ rounds }) => String(rounds));

/** `against`: what the other side is called in the headings. */
function rateColumns(against: string): readonly Column<Row>[] {
  return [
    ROW,
    DURABILITY,
    left("unit", ({ unit }) => unit),
    right("heddle", ({ heddle }) => rate(heddle)),
    right(against, (row) => rate(row.against)),
    RATIO,
    TARGET,
    CPU,
    WRITTEN,
    right("heddle p50 / p99 ms", ({ heddle }) => percentiles(heddle)),
    right(`${against} p50 / p99 ms`, (row) => percentiles(row.against)),
    right("share a commit", (row) => `${share(row.heddle)} / ${share(row.against)}`),
    ROUNDS,
  ];
}

const TIME_COLUMNS: readonly Column<Row>[] = [
  ROW,
  DURABILITY,
  right("heddle p50 ms", ({ heddle }) => significant(heddle.p50Ms)),
  right("p99", ({ heddle }) => significant(heddle.p99Ms)),
  right("error of mean", ({ heddle }) => error(heddle)),
  right("limit p50 ms", ({ against }) => significant(against.p50Ms)),
  right("p99", ({ against }) => significant(against.p99Ms)),
  right("error of mean", ({ against }) => error(against)),
  RATIO,
  TARGET,
  ROUNDS,
];

/** Both sides named in the row: what is compared differs from row to row. */
const CALL_COLUMNS: readonly Column<Row>[] = [
  ROW,
  DURABILITY,
  left("unit", ({ unit }) => unit),
  right("this", (row) => `${row.heddle.name} ${figure(row, row.heddle)}`),
  right("beside", (row) => `${row.against.name} ${figure(row, row.against)}`),
  RATIO,
  TARGET,
  right("p50 / p99 ms", (row) => timesOf(row, row.heddle)),
  right("beside p50 / p99 ms", (row) => timesOf(row, row.against)),
  CPU,
  WRITTEN,
  ROUNDS,
];

/** How the times of single executions are spread. */
const SPREAD_COLUMNS: readonly Column<Row>[] = [
  ROW,
  DURABILITY,
  left("this", ({ heddle }) => heddle.name),
  right("p50 / p90 / p99 / p99.9 / max ms", ({ heddle }) => spread(heddle)),
  left("beside", ({ against }) => against.name),
  right("p50 / p90 / p99 / p99.9 / max ms", ({ against }) => spread(against)),
  RATIO,
  TARGET,
  ROUNDS,
];

const againstLimit = (row: Row): boolean => row.against.name === "limit";
const isDurable = (row: Row): boolean => row.sync !== "none";
const isOfAgents = ({ id }: Row): boolean => id.startsWith("agent");

const AGENTS: Section = {
  title: "Agents",
  note:
    "A conversation that grows, and 1,000 of them at once. Rates: a higher ratio is better; times and bytes: a lower one. The guide's system " +
    "holds 3.5 MB of state after 50 turns, 54.9 MB after 200, and fails by 650.",
  shows: isOfAgents,
  columns: CALL_COLUMNS,
};

const SECTIONS: readonly Section[] = [
  {
    title: "Durable throughput",
    note: "Work / durability / in flight, beside the raw baseline (limit), which makes the same commits. A higher ratio is better.",
    shows: (row) => !isTime(row) && againstLimit(row),
    columns: rateColumns("limit"),
  },
  {
    title: "Time of one execution, alone",
    note: "Work / durability, beside the raw baseline (limit), which makes the same commits. A lower ratio is better.",
    shows: (row) => isDurable(row) && row.unit === "ms" && againstLimit(row),
    columns: TIME_COLUMNS,
  },
  {
    title: "Time of one execution under load",
    note: "Executions arrive by a schedule, at a share of the most that each side can do; times run from the scheduled moment. A lower ratio of the medians is better.",
    shows: ({ id }) => id.startsWith("latency/"),
    columns: SPREAD_COLUMNS,
  },
  {
    title: "heddle beside heddle",
    note: "What a way of using it costs: own ids beside ids that heddle makes, zod schemas beside none. A higher ratio is better.",
    shows: (row) => isDurable(row) && !isTime(row) && !againstLimit(row),
    columns: rateColumns("without"),
  },
  {
    title: "Threads",
    note: "Calls of the effect pool, and what the host feels. Rates: a higher ratio is better; times: a lower one.",
    shows: (row) => !isDurable(row),
    columns: CALL_COLUMNS,
  },
  AGENTS,
  {
    title: "Sizes, long logs and long runs",
    note: "Rates: a higher ratio is better; times and bytes: a lower one.",
    shows: () => true,
    columns: CALL_COLUMNS,
  },
];

/** Agents have one of their own. */
function sectionOf(row: Row): Section | undefined {
  return isOfAgents(row) ? AGENTS : SECTIONS.find(({ shows }) => shows(row));
}

export function present(report: Report, style: TableStyle): string {
  const parts = [header(report).join(style === "markdown" ? "\n\n" : "\n")];
  for (const section of SECTIONS) {
    const { title, note, columns } = section;
    const rows = report.rows.filter((row) => sectionOf(row) === section);
    if (rows.length === 0) continue;
    parts.push(style === "markdown" ? `### ${title}` : `${title}\n${"=".repeat(title.length)}`);
    parts.push(note, renderTable(columns, rows, style));
  }
  return parts.join("\n\n");
}

function header({ date, quick, versions, machine }: Report): string[] {
  const lines = [
    `heddle ${versions.heddle}, Node ${versions.node}, lmdb ${versions.lmdb}, tinybench ${versions.tinybench}; ${date}`,
    machineLine(machine),
  ];
  if (quick) lines.push("A --quick run: it shows that the bench works; its figures mean nothing.");
  return [...lines, ...busyLines(machine)];
}

/** The machine and its disk. */
export function machineLine(machine: Machine): string {
  const { cores, model, memoryGiB, system, fileSystem, diskFlushMs } = machine;
  return `${cores} cores, ${model}, ${memoryGiB} GiB, ${system}; ${fileSystem}, 4 KiB written and flushed in ${significant(diskFlushMs)} ms`;
}

/** A warning, when others used the machine. */
export function busyLines({ loadPerCore }: Machine): string[] {
  if (loadPerCore <= BUSY) return [];
  return [`The machine was busy before the run (load ${loadPerCore.toFixed(2)} a core): measure again.`];
}

/** "≥ 0.60: held", "≤ 1.30: MISSED" */
function target(row: Row): string {
  const isHeld = isTargetMet(row);
  if (isHeld === undefined) return "";
  const { ratio, median } = row.target ?? {};
  const bounds = [
    ...(ratio === undefined ? [] : [ratio.toFixed(2)]),
    ...(median === undefined ? [] : [`${median.toLocaleString("en")} ${row.unit}`]),
  ];
  return `${isTime(row) ? "≤" : "≥"} ${bounds.join(" or ")}: ${isHeld ? "held" : "MISSED"}`;
}

function left(heading: string, cell: (row: Row) => string): Column<Row> {
  return { heading, align: "left", cell };
}

function right(heading: string, cell: (row: Row) => string): Column<Row> {
  return { heading, align: "right", cell };
}

function figure(row: Row, figures: Row["heddle"]): string {
  if (row.unit === "bytes") return Math.round(figures.median).toLocaleString("en");
  return isTime(row) ? `${significant(figures.p50Ms)} ms ± ${error(figures)}` : rate(figures);
}

function rate(figures: Row["heddle"]): string {
  return `${Math.round(figures.median).toLocaleString("en")} ± ${error(figures)}`;
}

function error({ errorPercent }: Row["heddle"]): string {
  return `${errorPercent.toFixed(errorPercent < 10 ? 1 : 0)} %`;
}

function percentiles({ p50Ms, p99Ms }: Row["heddle"]): string {
  return `${significant(p50Ms)} / ${significant(p99Ms)}`;
}

/** As far as there were enough of them to tell. */
function spread({ timesMs = [] }: Row["heddle"]): string {
  const known = new Map(timesMs);
  return [0.5, 0.9, 0.99, 0.999, 1]
    .map((share) => known.get(share))
    .map((value) => (value === undefined ? "-" : significant(value)))
    .join(" / ");
}

/** Sizes have none. */
function timesOf({ unit }: Row, figures: Row["heddle"]): string {
  return unit === "bytes" ? "" : percentiles(figures);
}

function cpu({ cpuUs }: Row["heddle"]): string {
  return cpuUs === undefined ? "-" : cpuUs.toFixed(cpuUs < 10 ? 1 : 0);
}

function written({ writtenBytes }: Row["heddle"]): string {
  return writtenBytes === undefined ? "-" : significant(writtenBytes / 1_000);
}

function share({ sharedBy }: Row["heddle"]): string {
  return sharedBy.toFixed(sharedBy < 10 ? 1 : 0);
}

/** Three significant digits: times here go from a hundredth of a millisecond to seconds. */
export function significant(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
