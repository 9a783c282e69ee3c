// Row curves: what rows of a report have in common, as lines.

import { type Axis, type Curve, curvesSvg, type Panel } from "../../src/cli/drawing/curves.js";
import { steps } from "../../src/cli/drawing/scale.js";
import type { Course, Figures, Report, Row } from "../harness/report.js";
import { captionOf, type Run, short, shortTime } from "./caption.js";

const COLUMNS = 3;

/** Rates of rows that differ in how many are in flight, beside what they are measured against. */
export function inFlightCurves(report: Report): string | undefined {
  const families = new Map<string, Row[]>();
  for (const row of report.rows) {
    const family = row.id.replace(/\/\d+$/, "");
    if (!row.unit.endsWith("/s") || row.id !== `${family}/${row.inFlight}`) continue;
    families.set(family, [...(families.get(family) ?? []), row]);
  }
  const panels = [...families]
    .filter(([, rows]) => rows.length > 1)
    .map(([family, rows]): Panel => {
      const curve = (name: string, of: (row: Row) => Figures): Curve => ({
        name,
        points: rows.map((row) => {
          const { median, errorPercent } = of(row);
          return { x: row.inFlight, y: median, error: (median * errorPercent) / 100 };
        }),
      });
      const { heddle, against, unit } = rows[0] as Row;
      return {
        title: `${family}, ${unit}`,
        isLog: true,
        label: short,
        curves: [curve(heddle.name, (row) => row.heddle), curve(against.name, (row) => row.against)],
      };
    });
  if (panels.length === 0) return undefined;
  return curvesSvg({
    title: "Throughput by how many executions are in flight",
    subtitle: [...captionOf(report), "Medians; lines up and down: half the 95 % confidence interval"],
    xLabel: "executions in flight",
    panels,
  });
}

/** One more nine for each step to the right: what is rare has as much room as what is usual. */
const NINES: Axis = {
  ticks: [0, 0.9, 0.99, 0.999, 0.9999],
  label: (share) => `${Number((share * 100).toFixed(2))} %`,
  measure: (share) => -Math.log10(Math.max(1 - share, 1e-4)),
};

/** What share of all executions took at most how long. */
export function timeCurves(report: Report): string | undefined {
  const panels = report.rows.flatMap((row): Panel[] => {
    const { id, heddle, against } = row;
    if (!heddle.timesMs || !against.timesMs || !against.name.startsWith("limit")) return [];
    const curve = ({ name, timesMs = [] }: Figures, isReference: boolean): Curve => ({
      name: isReference ? "limit" : name,
      isReference,
      points: timesMs.filter(([share]) => share < 1).map(([x, y]) => ({ x, y })),
    });
    return [
      {
        title: id,
        isLog: true,
        label: shortTime,
        x: NINES,
        curves: [curve(heddle, false), curve(against, true)],
      },
    ];
  });
  if (panels.length === 0) return undefined;
  return curvesSvg({
    title: "How long an execution takes, from the call that starts or resumes it to its durable end",
    subtitle: captionOf(report),
    xLabel: "share of executions that took at most so long",
    panels,
    columns: COLUMNS,
  });
}

/** docs/adr/0013-linear-agent-log.md has these figures. */
const GUIDE = {
  name: "the guide's system",
  points: [
    { x: 50, y: 3.5e6 },
    { x: 200, y: 54.9e6 },
  ],
  isReference: true,
};

/** Bytes of agents that have gone on for long, and what they keep in memory. */
export function agentCurves(report: Report): string | undefined {
  const panelOf = (kind: "bytes" | "heap", title: string): Panel[] => {
    const rows = report.rows.filter(({ id }) => id.startsWith(`agent-growth/${kind}/`));
    if (rows.length < 2) return [];
    const curve = (name: string, of: (row: Row) => Figures): Curve => ({
      name,
      points: rows.map((row) => ({ x: turnsOf(row), y: of(row).median })),
    });
    const ours = curve(kind === "bytes" ? "log" : "in memory", (row) => row.heddle);
    const said = curve("what was said, once", (row) => row.against);
    return [{ title, isLog: true, label: bytes, x: TURNS, curves: [ours, said, GUIDE] }];
  };
  const times = report.rows.filter(({ id }) => id.startsWith("agent-growth/turn/"));
  const first = times[0];
  const turns: Panel[] = first
    ? [
        {
          title: "Time of a turn near it",
          label: shortTime,
          x: TURNS,
          curves: [
            {
              name: "a turn",
              points: [
                { x: 10, y: first.against.median },
                ...times.map((row) => ({ x: turnsOf(row), y: row.heddle.median })),
              ],
            },
          ],
        },
      ]
    : [];
  const panels = [
    ...panelOf("bytes", "Bytes of the log"),
    ...panelOf("heap", "Bytes held in memory"),
    ...turns,
  ];
  if (panels.length === 0) return undefined;
  return curvesSvg({
    title: "An agent that goes on: messages of a kilobyte, one tool call a turn",
    subtitle: [
      ...captionOf(report),
      "The guide's system: its folded state; at about 650 turns it cannot be written any more",
    ],
    xLabel: "turns",
    panels,
  });
}

function turnsOf({ id }: Row): number {
  return Number(id.slice(id.lastIndexOf("/") + 1));
}

const TURNS: Axis = { ticks: [10, 50, 200, 650, 2_000], label: String, measure: Math.log2 };

function bytes(value: number): string {
  return value >= 1e6 ? `${value / 1e6} MB` : `${value / 1e3} KB`;
}

/** What a row or a steady load saw on its way. */
export function courseCurves(title: string, { along, panels }: Course, run: Run): string {
  return curvesSvg({
    title,
    subtitle: captionOf(run),
    xLabel: along,
    columns: 2,
    panels: panels.map(({ title, curves }) => {
      const xs = curves.flatMap(({ points }) => points.map(([x]) => x));
      return {
        title,
        label: short,
        x: { ticks: steps(xs), label: short, measure: (x) => x },
        curves: curves.map(({ name, points }) => ({
          name,
          points: thinned(points).map(([x, y]) => ({ x, y })),
        })),
      };
    }),
  });
}

/** A line of so many points is as wide as its panel. */
const POINTS_MAX = 300;

/** Medians of equally many neighbours. */
function thinned(points: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const size = Math.ceil(points.length / POINTS_MAX);
  if (size <= 1) return [...points];
  return Array.from({ length: Math.ceil(points.length / size) }, (_, n) => {
    const part = points.slice(n * size, (n + 1) * size);
    const values = part.map(([, y]) => y).sort((a, b) => a - b);
    return [part[0]?.[0] ?? 0, values[Math.floor(values.length / 2)] ?? 0] as const;
  });
}
