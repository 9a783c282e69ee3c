// npm run mutants: breaks rules one at a time, in a copy of the tree, and looks whether the suite notices. A mutant that none of the test
// files it names notices is tried on the whole suite; one that survives that too is a hole in the suite, and the exit code is 1.

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Mutant } from "./mutant.js";
import { MUTANTS } from "./mutants.js";
import { type SuiteRun, Workshop } from "./workshop.js";

const HELP = `npm run mutants -- [--only NAME]... [--json]

  --only NAME   this mutant alone; may be given several times
  --list        names the mutants and their rules, runs nothing
  --json        prints the results as JSON
  --help        this

Exit code 1: a mutant survived. 2: the check itself could not be made.`;

interface Result extends Mutant {
  /** The test that failed first; null for a mutant that survived. */
  readonly test: string | null;
  readonly seconds: number;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true, default: [] },
      list: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(HELP);
  const mutants = chosen(values.only);
  if (values.list) return say(table(mutants.map(({ name, rule }) => [name, rule])));
  const results = await run(mutants);
  if (values.json) say(JSON.stringify(results, undefined, 2));
  else say(table([["mutant", "rule", "noticed by", "s"], ...results.map(rowOf)]));
  const survivors = results.filter(({ test }) => test === null);
  if (survivors.length > 0) note(`Survived: ${survivors.map(({ name }) => name).join(", ")}`);
  else note(`${results.length} of ${results.length} noticed`);
  return survivors.length > 0 ? 1 : 0;
}

function chosen(names: readonly string[]): readonly Mutant[] {
  const unknown = names.filter((name) => !MUTANTS.some((mutant) => mutant.name === name));
  if (unknown.length > 0)
    throw new Error(
      `There is no mutant ${unknown.join(", ")}. There are: ${MUTANTS.map(({ name }) => name).join(", ")}.`,
    );
  return names.length === 0 ? MUTANTS : MUTANTS.filter(({ name }) => names.includes(name));
}

async function run(mutants: readonly Mutant[]): Promise<readonly Result[]> {
  const workshop = new Workshop(resolve(import.meta.dirname, "../.."));
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      workshop.close();
      process.exit(2);
    });
  try {
    note("the tests that are to notice, on the tree as it is");
    const sound = await workshop.test([...new Set(mutants.flatMap(({ noticedBy }) => noticedBy))]);
    if (sound.failed !== undefined) throw new Error(`A test fails without any mutant: ${nameOf(sound)}`);
    const results: Result[] = [];
    for (const mutant of mutants) {
      const begun = performance.now();
      const test = (await noticed(workshop, mutant)) ?? null;
      const seconds = Math.round((performance.now() - begun) / 1_000);
      results.push({ ...mutant, test, seconds });
      const verdict = test === null ? "SURVIVED" : "noticed";
      note(`${results.length}/${mutants.length} ${mutant.name}: ${verdict} after ${seconds} s`);
    }
    return results;
  } finally {
    workshop.close();
  }
}

async function noticed(workshop: Workshop, mutant: Mutant): Promise<string | undefined> {
  const expected = await workshop.test(mutant.noticedBy, mutant);
  if (expected.failed !== undefined) return nameOf(expected);
  note(`  ${mutant.name}: not noticed by ${mutant.noticedBy.join(", ")}; the whole suite is next`);
  return noticedAnywhere(workshop, mutant);
}

/** A test that fails now and then has noticed nothing: it has to fail again with the mutant, and to pass without. */
async function noticedAnywhere(workshop: Workshop, mutant: Mutant): Promise<string | undefined> {
  const shaky: string[] = [];
  for (;;) {
    const { failed, file } = await workshop.test(
      shaky.map((each) => `--exclude=${each}`),
      mutant,
    );
    if (failed === undefined || file === undefined) return failed;
    const again = await workshop.test([file], mutant);
    const without = await workshop.test([file]);
    if (again.failed !== undefined && without.failed === undefined) return nameOf(again);
    note(`  ${file} fails without any doing of the mutant: ${failed}`);
    shaky.push(file);
  }
}

function nameOf({ failed, file }: SuiteRun): string {
  return file === undefined ? String(failed) : `${file}: ${failed}`;
}

function rowOf({ name, rule, test, seconds }: Result): string[] {
  return [name, rule, test ?? "NOBODY", String(seconds)];
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function say(text: string): 0 {
  process.stdout.write(`${text}\n`);
  return 0;
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
