// Options: the command line.

import { resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";

export interface Options {
  /** The audited directory. */
  readonly tree: string;
  /** False: no kill half way. */
  readonly crash: boolean;
  /** Approve everything unusual without asking. */
  readonly yes?: boolean;
  readonly json?: boolean;
  /** How many threads executions run in, beside a pool for what they read and write. Undefined: all in one thread. */
  readonly threads?: number;
  /** Where the log and the report are kept. Undefined: in a new temporary directory. */
  readonly directory: string | undefined;
  /** Whether they stay there when the audit has finished. */
  readonly keep: boolean;
  /** Lines of the counter file at which the first, second, ... process kills itself. Undefined: half way, once. */
  readonly killAt?: readonly number[];
  /** Set by the supervisor: which process in the row this one is, and when the first began. */
  readonly life?: number;
  readonly since?: number;
}

// Lines of at most 78 characters, which no terminal wraps again.
const DESCRIPTION = `Audits the licences of everything installed in DIR/node_modules: one durable
execution per package.

Half way the program kills itself and is started again, to show that nothing
is lost and nothing is done twice.

Exit code: 0 when every package has been audited, whatever the verdicts;
1 when one could not be; 2 for a wrong command line or DIR; 130 when it was
stopped.`;

/** Reads the command line. Prints help or complaints itself, and ends the process then. */
export function readOptions(args: readonly string[]): Options {
  const program = new Command("npm start --")
    .description(DESCRIPTION)
    .argument("[DIR]", "directory with node_modules", ".")
    .option("--no-crash", "run straight through, without the kill")
    .option("--yes", "approve every unusual licence without asking")
    .option(
      "--threads [count]",
      "run in so many threads, and what reads and writes files in a pool",
      threadCount,
    )
    .option("--json", "print the report as JSON on stdout, and everything else on stderr")
    .option(
      "--data <dir>",
      "keep the log and the report here, and go on with what is there (default: a new temporary directory)",
    )
    .option("--keep", "keep that directory when the audit has finished", true)
    .option("--no-keep", "remove it then")
    .option(
      "--kill-at <lines>",
      "kill at these lines of the counter file instead of half way: 40,80",
      lineNumbers,
    )
    .addOption(new Option("--life <n>").argParser(Number).hideHelp())
    .addOption(new Option("--since <ms>").argParser(Number).hideHelp())
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  program.parse(args, { from: "user" });
  const { data, threads, ...rest } = program.opts<Parsed>();
  const directory = data === undefined ? undefined : resolve(data);
  const tree = resolve(program.args[0] ?? ".");
  if (threads === undefined) return { ...rest, tree, directory };
  return { ...rest, tree, directory, threads: threads === true ? DEFAULT_THREADS : threads };
}

/** As commander has them: what was not on the command line is missing. */
type Parsed = Omit<Options, "tree" | "directory" | "threads"> & {
  readonly data?: string;
  readonly threads?: number | true;
};

const DEFAULT_THREADS = 2;

function threadCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidArgumentError("It takes a whole number of at least 1.");
}

function lineNumbers(text: string): number[] {
  const numbers = text.split(",").map(Number);
  if (numbers.every((number) => Number.isInteger(number) && number > 0)) return numbers;
  throw new InvalidArgumentError("It takes whole numbers of at least 1, with commas between them.");
}
