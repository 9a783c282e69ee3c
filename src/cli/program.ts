// The grammar of the command line: commands, options, help. What a command does is in its own file under commands/,
// loaded when it runs, so that help and complaints come at once.

import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { HEDDLE_VERSION } from "../app/version.js";
import { FILED_STATUSES, type FiledStatus } from "../kernel/status.js";
import type { DebugOptions } from "./commands/debug.js";
import type { DoubtsOptions } from "./commands/doubts.js";
import type { LogsOptions } from "./commands/logs.js";
import type { LsOptions } from "./commands/ls.js";
import type { ResolveOptions } from "./commands/resolve.js";
import { CommandFailure, type ExitCode, reportOf } from "./failure.js";
import { statusOf, statusWords } from "./render/status.js";
import type { Terminal } from "./terminal.js";
import type { TuneOptions } from "./tune/tune.js";

/** Runs one command line and says how it went. Never throws. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = programFor(terminal, (code) => {
    exitCode = code;
  });
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has said what it had to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const report = reportOf(error);
    terminal.note(report.text);
    return report.exitCode;
  }
}

type Finish = (exitCode: ExitCode) => void;

function programFor(terminal: Terminal, finish: Finish): Command {
  const program = new Command("heddle")
    .description(
      "Looks into the log of a heddle application, also while the application runs,\ndecides what its effects left in doubt, and finds settings for them.",
    )
    .version(HEDDLE_VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .showHelpAfterError("(--help shows how it is used)")
    .exitOverride()
    .addHelpText(
      "after",
      `\nExamples:\n  heddle ls --db .data\n  heddle logs --db .data order-17\n  heddle debug --db .data order-17 --at 10\n  heddle doubts --db .data\n  heddle tune --module ./effects.js --effect resize --input photo.json`,
    );
  addLs(program, terminal, finish);
  addLogs(program, terminal, finish);
  addDebug(program, terminal, finish);
  addDoubts(program, terminal, finish);
  addResolve(program, terminal, finish);
  addTune(program, terminal, finish);
  return program;
}

function addLs(program: Command, terminal: Terminal, finish: Finish): void {
  const statuses = FILED_STATUSES.map(statusWords)
    .map((words) => words.replace(" ", "-"))
    .join(", ");
  withDirectory(program.command("ls").description("list executions, newest first"))
    .option("-s, --status <status>", `only these, with commas between: ${statuses}`, parseStatuses)
    .option("--flow <id>", "only executions of this flow")
    .option("-n, --limit <count>", "at most this many", parseCount, 50)
    .option("--after <id>", "only executions that come after this one in the list")
    .option("--json", "print one JSON object a line")
    .addHelpText(
      "after",
      `\nExamples:\n  heddle ls --db .data --status running,suspended\n  heddle ls --db .data --status set-aside\n  heddle ls --db .data --flow order --limit 10 --json | jq -r .id`,
    )
    .action(async (options: LsOptions) => {
      const { ls } = await import("./commands/ls.js");
      finish(await ls(terminal, options));
    });
}

function addLogs(program: Command, terminal: Terminal, finish: Finish): void {
  withDirectory(program.command("logs").description("print the timeline of an execution"))
    .argument("<id>", "the execution's id, or the beginning of it")
    .option("--from <sequence>", "begin at this event", parseSequence)
    .option("--to <sequence>", "end with this event", parseSequence)
    .option("-t, --type <type>", "only events of these types, with commas between", parseTypes)
    .option("-f, --follow", "wait for more events until the execution ends")
    .option("--full", "print values whole")
    .option("--json", "print one JSON object a line: the event's envelope")
    .addHelpText(
      "after",
      `\nExamples:\n  heddle logs --db .data order-17\n  heddle logs --db .data order-17 --follow\n  heddle logs --db .data order-17 --type STEP_FAILED,STEP_RETRIED --full\n  heddle logs --db .data order-17 --json | jq .payload`,
    )
    .action(async (id: string, options: LogsOptions) => {
      checkRange(options);
      const { logs } = await import("./commands/logs.js");
      finish(await logs(terminal, id, options));
    });
}

function addDebug(program: Command, terminal: Terminal, finish: Finish): void {
  withDirectory(program.command("debug").description("print the state of an execution at one of its events"))
    .argument("<id>", "the execution's id, or the beginning of it")
    .option("--at <sequence>", "the event to stop at (default: the last)", parseSequence)
    .option("--full", "list every entry and print values whole")
    .option("--json", "print the state as one JSON object")
    .addHelpText(
      "after",
      `\nExamples:\n  heddle debug --db .data order-17\n  heddle debug --db .data order-17 --at 10\n  heddle debug --db .data order-17 --json | jq .frames`,
    )
    .action(async (id: string, options: DebugOptions) => {
      const { debug } = await import("./commands/debug.js");
      finish(await debug(terminal, id, options));
    });
}

function addDoubts(program: Command, terminal: Terminal, finish: Finish): void {
  withDirectory(program.command("doubts").description("list steps in doubt, which wait for a verdict"))
    .option("--flow <id>", "only executions of this flow")
    .option("-n, --limit <count>", "at most this many", parseCount, 50)
    .option("--json", "print one JSON object a line")
    .addHelpText(
      "after",
      `\nA step is in doubt when it may have done its work and may not be repeated.\n\nExamples:\n  heddle doubts --db .data\n  heddle doubts --db .data --json | jq -r .idempotencyKey`,
    )
    .action(async (options: DoubtsOptions) => {
      const { doubts } = await import("./commands/doubts.js");
      finish(await doubts(terminal, options));
    });
}

function addResolve(program: Command, terminal: Terminal, finish: Finish): void {
  withDirectory(program.command("resolve").description("decide what became of a step in doubt"))
    .argument("<id>", "the execution's id")
    .argument("<step>", "the step's id")
    .addOption(
      new Option("--outcome <json>", "it did its work: the step completes with this")
        .argParser(parseJson)
        .conflicts(["fail", "retry"]),
    )
    .addOption(new Option("--fail <message>", "it did not: the step fails with this").conflicts("retry"))
    .option("--retry", "it did not: the step runs again, under the same key")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `\nIt writes, and only where no application has the directory open.\n\nExamples:\n  heddle resolve --db .data order-17 charge --outcome '{"receipt":"r-1"}'\n  heddle resolve --db .data order-17 charge --fail "never arrived"\n  heddle resolve --db .data order-17 charge --retry`,
    )
    .action(async (id: string, step: string, options: ResolveOptions) => {
      const { resolve } = await import("./commands/resolve.js");
      finish(await resolve(terminal, id, step, options));
    });
}

function addTune(program: Command, terminal: Terminal, finish: Finish): void {
  program
    .command("tune")
    .description("find settings of the pool for an effect")
    .requiredOption("--module <file>", "the effects module, as workers.effects.module has it")
    .requiredOption("--effect <id>", "the effect's id in that module")
    .requiredOption("--input <file>", "what it is called with: a file of JSON, or - for stdin")
    .option("--each", "the input is an array of inputs, taken in turn")
    .addOption(
      new Option("--calls <count>", "measure each setting with this many calls")
        .argParser(parseCount)
        .conflicts("seconds"),
    )
    .option("--seconds <seconds>", "measure each setting for so long (default: 2)", parseSeconds)
    .option("--max-threads <count>", "try no more threads (default: one a processor)", countUpTo(1_024))
    .option("--max-calls-per-thread <count>", "never more calls at a time on a thread", countUpTo(4_096), 256)
    .option("--out <file>", "draw the curves into an SVG file")
    .option("--json", "print one JSON object")
    .option("-y, --yes", "call the effect without asking")
    .addHelpText(
      "after",
      `\nIt really calls the effect, and asks before it does.\n\nExamples:\n  heddle tune --module ./effects.js --effect resize --input photo.json\n  heddle tune --module ./effects.js --effect ask --input - --calls 40 --max-calls-per-thread 16 --yes < prompt.json\n  heddle tune --module ./effects.js --effect resize --input photos.json --each --out resize.svg`,
    )
    .action(async (options: TuneOptions) => {
      const { tune } = await import("./tune/tune.js");
      finish(await tune(terminal, options));
    });
}

function withDirectory(command: Command): Command {
  return command.requiredOption("--db <dir>", "the directory of the log, as lmdbStorage({ dir }) has it");
}

function parseSequence(typed: string): number {
  const sequence = Number(typed);
  if (/^\d+$/.test(typed) && Number.isSafeInteger(sequence)) return sequence;
  throw new InvalidArgumentError("It must be a whole number from 0 on.");
}

function parseCount(typed: string): number {
  const count = Number(typed);
  if (/^\d+$/.test(typed) && Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError("It must be a whole number from 1 on.");
}

function countUpTo(most: number): (typed: string) => number {
  return (typed) => {
    const count = parseCount(typed);
    if (count <= most) return count;
    throw new InvalidArgumentError(`It must be no more than ${most}.`);
  };
}

const SECONDS_MAX = 3_600;

function parseSeconds(typed: string): number {
  const seconds = Number(typed);
  if (/^[\d.]+$/.test(typed) && seconds > 0 && seconds <= SECONDS_MAX) return seconds;
  throw new InvalidArgumentError(`It must be a number above 0, and no more than ${SECONDS_MAX}.`);
}

/** Plain JSON: what the command line prints for values that JSON has no word for is not read back. */
function parseJson(typed: string): { readonly value: unknown } {
  let hasMark = false;
  try {
    const value: unknown = JSON.parse(typed, (key, inner: unknown) => {
      hasMark ||= key.startsWith("$");
      return inner;
    });
    if (!hasMark) return { value };
  } catch (error) {
    throw new InvalidArgumentError(
      `It is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  throw new InvalidArgumentError(
    "A key begins with $: a value that JSON has no word for is for runtime.resolveInDoubt to give.",
  );
}

function parseStatuses(typed: string, before: readonly FiledStatus[] = []): FiledStatus[] {
  const statuses = typed.split(",").map((word) => {
    const status = statusOf(word);
    if (status) return status;
    const known = FILED_STATUSES.map((each) => statusWords(each).replace(" ", "-")).join(", ");
    throw new InvalidArgumentError(`There is no status "${word}". There are: ${known}.`);
  });
  return [...new Set([...before, ...statuses])];
}

function parseTypes(typed: string, before: readonly string[] = []): string[] {
  return [...before, ...typed.split(",").filter((type) => type !== "")];
}

function checkRange({ from, to }: LogsOptions): void {
  if (from === undefined || to === undefined || from <= to) return;
  throw new CommandFailure(2, `--from ${from} lies behind --to ${to}.`);
}
