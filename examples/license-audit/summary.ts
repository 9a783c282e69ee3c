// Summary: what the audit found, and how it went. `--json` prints it as it is.

import type { Tally } from "../shared/counter.js";
import type { DataDirectory } from "../shared/data.js";
import { quoted } from "../shared/terminal.js";
import type { Failure } from "./audit.js";
import type { Row } from "./report.js";

export interface Summary {
  readonly tree: string;
  readonly packages: number;
  readonly files: number;
  readonly bytes: number;
  /** Packages by licence, the most frequent first. */
  readonly licenses: readonly { readonly license: string; readonly packages: number }[];
  readonly decisions: Readonly<Record<Row["decision"], number>>;
  /** Rows that are not simply allowed. */
  readonly flagged: readonly Row[];
  readonly rows: readonly Row[];
  /** Packages without a row, and why. */
  readonly failures: readonly Failure[];
  readonly steps: Tally;
  /** Executions that this run of the program brought to an end: all, unless it went on with earlier work. */
  readonly executions: number;
  readonly seconds: number;
  readonly executionsPerSecond: number;
  /** How often the program was killed and started again. */
  readonly kills: number;
  readonly data: string;
  /** The counter file, see ../shared/counter.ts. */
  readonly counter: string;
  /** Shows the log of one execution. */
  readonly logsCommand: string;
}

export type Facts = Pick<
  Summary,
  "tree" | "rows" | "failures" | "executions" | "seconds" | "kills" | "steps"
>;

export function summarise(facts: Facts, { dir, log, counter }: DataDirectory): Summary {
  const { rows, failures, steps, executions, seconds } = facts;
  const flagged = rows.filter((row) => row.decision !== "allowed");
  const decisions = { allowed: 0, approved: 0, refused: 0, denied: 0 };
  for (const { decision } of rows) decisions[decision]++;
  const packages = rows.length + failures.length;
  // The most telling log: one the kill ran through, or else one with a gate.
  const example =
    steps.cutShort[0]?.split(" ")[0] ?? flagged[0]?.id ?? rows[0]?.id ?? failures[0]?.id ?? "ID";
  return {
    ...facts,
    packages,
    files: rows.reduce((sum, { files }) => sum + files, 0),
    bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
    licenses: countByLicense(rows),
    decisions,
    flagged,
    executionsPerSecond: executions / seconds,
    data: dir,
    counter,
    logsCommand: `npx heddle logs --db ${quoted(log)} ${quoted(example)}`,
  };
}

function countByLicense(rows: readonly Row[]): Summary["licenses"] {
  const counts = new Map<string, number>();
  for (const { license } of rows) counts.set(license, (counts.get(license) ?? 0) + 1);
  return [...counts]
    .map(([license, packages]) => ({ license, packages }))
    .toSorted((a, b) => b.packages - a.packages || (a.license < b.license ? -1 : 1));
}
