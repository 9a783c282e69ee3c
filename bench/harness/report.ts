// Report: what one run found out, as `report.json` holds it and `--compare` reads it back.

import type { Statistics } from "tinybench";
import { z } from "zod";

const Figures = z.object({
  name: z.string(),
  /** In the unit of the row. */
  median: z.number(),
  /** Half the width of the 95 % confidence interval of the mean, in percent of it. */
  errorPercent: z.number(),
  /** Of one execution, from the call that starts or resumes it to its end. */
  p50Ms: z.number(),
  p99Ms: z.number(),
  /** How many executions share one commit, on average. */
  sharedBy: z.number(),
  /** Processor time of all threads for one unit of work. Not measured where a sample is too short for it. */
  cpuUs: z.number().optional(),
  /** What one unit of work sends to the disk, in whole pages. Only where the system counts it. */
  writtenBytes: z.number().optional(),
  /** How long a share of all executions took at most, as pairs of share and milliseconds, rising: the curve of their times. */
  timesMs: z.array(z.tuple([z.number(), z.number()])).optional(),
});

/** What was promised of a row: at least for a rate, at most for a time or a size. Either will do where there are both. */
const Target = z.object({
  ratio: z.number().optional(),
  /** Of our side, in the unit of the row. */
  median: z.number().optional(),
});

/** What a row saw on its way: over time, or over the length of a log. Only plots show it. */
const Course = z.object({
  /** With its unit, such as "turns" or "minutes". */
  along: z.string(),
  panels: z.array(
    z.object({
      /** With its unit, such as "resident memory, MB". */
      title: z.string(),
      curves: z.array(z.object({ name: z.string(), points: z.array(z.tuple([z.number(), z.number()])) })),
    }),
  ),
});

const Row = z.object({
  id: z.string(),
  unit: z.enum(["executions/s", "steps/s", "calls/s", "turns/s", "MB/s", "ms", "bytes"]),
  /** "none": nothing is written. */
  sync: z.enum(["flush", "commit", "none"]),
  inFlight: z.number(),
  rounds: z.number(),
  heddle: Figures,
  /** What it is measured against: the raw baseline, or heddle in another manner. */
  against: Figures,
  /** `heddle` by `against`, taken within each round. `mad`: median absolute deviation. */
  ratio: z.object({ median: z.number(), mad: z.number(), min: z.number(), max: z.number() }),
  target: Target.optional(),
  course: Course.optional(),
});

const Machine = z.object({
  cores: z.number(),
  model: z.string(),
  memoryGiB: z.number(),
  system: z.string(),
  fileSystem: z.string(),
  /** Median time of a 4 KiB write and its fdatasync, with nothing of LMDB. */
  diskFlushMs: z.number(),
  /** Over the minute before the run, per core. */
  loadPerCore: z.number(),
});

const Report = z.object({
  format: z.literal(1),
  date: z.string(),
  quick: z.boolean(),
  versions: z.object({ heddle: z.string(), node: z.string(), lmdb: z.string(), tinybench: z.string() }),
  machine: Machine,
  rows: z.array(Row),
});

export type Figures = z.infer<typeof Figures>;
export type Target = z.infer<typeof Target>;
export type Course = z.infer<typeof Course>;
export type Row = z.infer<typeof Row>;
export type Machine = z.infer<typeof Machine>;
export type Report = z.infer<typeof Report>;

export function ratioOf({ p50, mad, min, max }: Statistics): Row["ratio"] {
  return { median: p50, mad, min, max };
}

export function parseReport(text: string): Report {
  return Report.parse(JSON.parse(text));
}

/** Whether less is better: a time or a size, as opposed to a rate. */
export function isTime(row: Pick<Row, "unit">): boolean {
  return row.unit === "ms" || row.unit === "bytes";
}

/** Nothing where nothing was promised. */
export function isTargetMet(row: Row): boolean | undefined {
  const { target, ratio, heddle } = row;
  if (!target) return undefined;
  const holds = (found: number, bound: number | undefined): boolean =>
    bound !== undefined && (isTime(row) ? found <= bound : found >= bound);
  return holds(ratio.median, target.ratio) || holds(heddle.median, target.median);
}
