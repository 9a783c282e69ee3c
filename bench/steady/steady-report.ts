// SteadyReport: what a steady load found out, in data and in words.

import type { Course, Report } from "../harness/report.js";
import { renderTable } from "../harness/table.js";
import { type Trend, trendOf } from "../harness/trend.js";
import type { Second } from "./second.js";

export interface SteadyReport extends Pick<Report, "format" | "date" | "versions" | "machine"> {
  readonly sync: "flush" | "commit";
  readonly minutes: number;
  /** Scheduled executions a second. */
  readonly perSecond: number;
  /** What the same log did before, with 1,000 in flight. */
  readonly most: number;
  readonly executions: number;
  readonly seconds: readonly Second[];
  readonly trends: readonly NamedTrend[];
  /** The same seconds as curves, for plots. */
  readonly course: Course;
}

export interface NamedTrend extends Trend {
  /** With its unit. */
  readonly title: string;
}

/** Of the run, at its begin: caches fill, and the compiler is not done. */
const WARM_UP_SHARE = 0.1;

const WATCHED: readonly (readonly [title: string, of: (second: Second) => number | undefined])[] = [
  ["executions a second", ({ perSecond }) => perSecond],
  ["p50, ms", ({ p50Ms }) => p50Ms],
  ["p99, ms", ({ p99Ms }) => p99Ms],
  ["own memory, MB", ({ ownMB }) => ownMB],
  ["heap, MB", ({ heapMB }) => heapMB],
];

export function trendsOf(seconds: readonly Second[]): NamedTrend[] {
  const warm = seconds.slice(Math.ceil(seconds.length * WARM_UP_SHARE));
  return WATCHED.map(([title, of]) => {
    const values = warm.map(of).filter((value) => value !== undefined);
    return { title, ...trendOf(values) };
  });
}

export function courseOf(seconds: readonly Second[]): Course {
  const curve = (name: string, of: (second: Second) => number | undefined) => ({
    name,
    points: seconds.flatMap((second): [number, number][] => {
      const value = of(second);
      return value === undefined ? [] : [[second.atS / 60, value]];
    }),
  });
  return {
    along: "minutes",
    panels: [
      { title: "executions a second", curves: [curve("ended", ({ perSecond }) => perSecond)] },
      {
        title: "time of an execution, ms",
        curves: [curve("p50", ({ p50Ms }) => p50Ms), curve("p99", ({ p99Ms }) => p99Ms)],
      },
      {
        title: "memory, MB",
        curves: [curve("own", ({ ownMB }) => ownMB), curve("heap", ({ heapMB }) => heapMB)],
      },
      { title: "log, MB", curves: [curve("log", ({ logMB }) => logMB)] },
    ],
  };
}

export function presentSteady({
  sync,
  minutes,
  perSecond,
  most,
  executions,
  seconds,
  trends,
}: SteadyReport): string {
  const last = seconds.at(-1);
  const number = (value: number): string => Math.round(value).toLocaleString("en");
  return [
    `${number(executions)} executions in ${minutes} minutes, ${sync}: ${number(perSecond)} a second, ${((100 * perSecond) / most).toFixed(0)} % of ${number(most)}.`,
    `At the end: ${number(last?.logMB ?? 0)} MB of log, ${number(last?.rssMB ?? 0)} MB resident, pages of the log among them.`,
    renderTable<NamedTrend>(
      [
        { heading: "", align: "left", cell: ({ title }) => title },
        { heading: "mean", align: "right", cell: ({ mean }) => significant(mean) },
        {
          heading: "growth over the run",
          align: "right",
          cell: ({ growth, error }) => `${significant(growth)} ± ${significant(error)}`,
        },
        { heading: "", align: "left", cell: ({ verdict }) => verdict },
      ],
      trends,
      "text",
    ),
    "Flat: whatever it grew or shrank by is surely less than a tenth of the mean. Unknown: too short or too restless a run to tell.",
  ].join("\n\n");
}

function significant(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
