// The bench: `npm run bench`. What it measures, and what its figures do not say: docs/performance.md.

import { readFileSync } from "node:fs";
import { runCommand, UsageError } from "./command.js";
import { flame } from "./flame/index.js";
import { compareReports, presentChanges } from "./harness/comparison.js";
import { describeMachine, versions } from "./harness/machine.js";
import { present } from "./harness/presentation.js";
import type { Question } from "./harness/question.js";
import { parseReport, type Report, type Row } from "./harness/report.js";
import { type BenchOptions, HELP, readOptions } from "./options.js";
import { pictureLinks, writeResults } from "./plots/index.js";
import { questions } from "./questions/index.js";

const WORSE = 1;

await runCommand(readOptions, HELP, main);

async function main(options: BenchOptions): Promise<number> {
  const chosen = questions.filter(({ id }) =>
    options.flame === undefined ? options.only.test(id) : id === options.flame,
  );
  if (options.list) {
    for (const { id } of chosen) console.log(id);
    return 0;
  }
  if (chosen.length === 0) {
    const asked =
      options.flame === undefined ? `matches --only ${options.only.source}` : `is called ${options.flame}`;
    throw new UsageError(`No row ${asked}. There are: ${namesOf(questions)}.`);
  }
  if (options.flame !== undefined) {
    for (const question of chosen) console.log(await flame(question, options.out));
    return 0;
  }
  // Read before the minutes that follow, so that a wrong file is found out at once.
  const before = options.compare === undefined ? undefined : readEarlier(options.compare, options.only);
  const report = await measure(chosen, options.quick);
  const style = options.markdown ? "markdown" : "text";
  console.log(present(report, style));
  if (options.markdown) console.log(`\n${pictureLinks(report)}`);
  writeResults(options.out, report);
  if (!before) return 0;
  const changes = compareReports(before, report);
  console.log(`\n${presentChanges(changes, before, report, style)}`);
  return changes.some(({ verdict }) => verdict === "regression") ? WORSE : 0;
}

function readEarlier(file: string, only: RegExp): Report {
  try {
    const report = parseReport(readFileSync(file, "utf8"));
    return { ...report, rows: report.rows.filter(({ id }) => only.test(id)) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file} is no report.json: ${reason}`);
  }
}

async function measure(chosen: readonly Question[], quick: boolean): Promise<Report> {
  const machine = describeMachine(); // First: the load it reads is the others' load.
  const rows: Row[] = [];
  for (const question of chosen) {
    const started = performance.now();
    const found = await question.ask(quick ? "quick" : "full");
    const row: Row = question.target ? { ...found, target: question.target } : found;
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    console.error(`${row.id}: ${row.ratio.median.toFixed(2)} of ${row.against.name} (${seconds} s)`);
    rows.push(row);
  }
  return { format: 1, date: new Date().toISOString(), quick, versions: versions(), machine, rows };
}

function namesOf(all: readonly Question[]): string {
  return all.map(({ id }) => id).join(", ");
}
