// npm run soak: real processes over real directories, killed, stopped, doubled and starved for as long as it is told, with a report.
// It ends at the first thing that is not as it has to be, keeps the directory, and says how to repeat it.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { Lane } from "./lane.js";
import { addTally, emptyTally, reportOf, type Tally } from "./tally.js";

interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly lanes: number;
  readonly dir?: string;
  readonly keep?: true;
  readonly json?: string;
  readonly report?: string;
}

const command = new Command("soak")
  .description(
    "Crashes real hosts over real directories, and holds what they leave against what was acknowledged.",
  )
  .option("--minutes <n>", "how long", positive, 30)
  .option("--seed <n>", "draws the same plan again", positive, Date.now() % 1_000_000)
  .option("--lanes <n>", "directories at a time", positive, availableParallelism())
  .option("--dir <path>", "where the directories are made (default: the system's for temporary files)")
  .option("--keep", "keeps the last directories also when all is clean")
  .option("--json <file>", "writes the counts there")
  .option("--report <file>", "writes the report there, too")
  .parse();
const options = command.opts<Options>();
const root = mkdtempSync(join(options.dir ?? tmpdir(), "heddle-soak-"));
const begun = performance.now();
const seconds = (): number => (performance.now() - begun) / 1_000;
const lanes = Array.from(
  { length: options.lanes },
  (_, i) => new Lane({ name: `l${i}`, root, seed: options.seed + i }),
);

let isStopping = false;
process.once("SIGINT", () => {
  isStopping = true;
  say("Ending: the executions that are open are brought to their ends first. Again to stop at once.");
  process.once("SIGINT", () => process.exit(130));
});
const progress = setInterval(tellProgress, process.stdout.isTTY ? 1_000 : 60_000);

let finding: string | undefined;
await Promise.all(lanes.map(run));
clearInterval(progress);
finish();

async function run(lane: Lane): Promise<void> {
  const isOver = (): boolean => isStopping || finding !== undefined || seconds() > options.minutes * 60;
  try {
    while (!isOver()) await lane.round();
    if (finding === undefined) await lane.finish();
  } catch (error) {
    finding ??= error instanceof Error ? error.message : String(error);
  }
}

function total(): Tally {
  const sum = emptyTally();
  for (const { tally } of lanes) addTally(sum, tally);
  return sum;
}

function tellProgress(): void {
  const { rounds, kills, executions, effects } = total();
  const line = `${(seconds() / 60).toFixed(1)} of ${options.minutes} min: ${rounds} rounds, ${kills} kills, ${executions} executions, ${effects} effects`;
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${line}`);
  else say(line);
}

function finish(): void {
  const tally = total();
  const isClean = finding === undefined;
  const residentMiB = Math.round(process.resourceUsage().maxRSS / 1_024);
  const repeat = `npm run soak -- --seed ${options.seed} --lanes ${options.lanes} --minutes ${options.minutes}`;
  const report = [
    `Seed ${options.seed}, ${options.lanes} lanes, Node ${process.versions.node}`,
    reportOf(tally, { seconds: seconds(), residentMiB, isClean, finding, repeat }),
  ].join("\n");
  if (process.stdout.isTTY) process.stdout.write("\r\u001b[K");
  say(report);
  if (options.report) writeFileSync(options.report, `${report}\n`);
  if (options.json)
    writeFileSync(
      options.json,
      `${JSON.stringify({ isClean, finding, seed: options.seed, seconds: seconds(), residentMiB, ...tally }, undefined, 2)}\n`,
    );
  if (isClean && !options.keep) rmSync(root, { recursive: true });
  else say(`The directories are in ${root}.`);
  process.exitCode = isClean ? 0 : 1;
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It has to be a number over 0.");
  return value;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
