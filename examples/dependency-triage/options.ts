// Options: the command line.

import { resolve } from "node:path";
import { Command, Option } from "commander";

export interface Options {
  /** The directory the agent works on. */
  readonly tree: string;
  /** False: no kill in the middle. */
  readonly crash: boolean;
  /** Ask a real model, with the key in the environment. */
  readonly live?: boolean;
  /** Its name. Undefined: the provider's default. */
  readonly model?: string;
  /** Approve every change without asking. */
  readonly yes?: boolean;
  readonly json?: boolean;
  /** Where log and proposals are kept. Undefined: in a new temporary directory. */
  readonly directory: string | undefined;
  /** Whether they stay there afterwards. */
  readonly keep: boolean;
  /** Set by the supervisor: which process in the row this one is, and when the first began. */
  readonly life?: number;
  readonly since?: number;
}

// Lines of at most 78 characters, which no terminal wraps again.
const DESCRIPTION = `An agent looks through the packages installed in DIR/node_modules and proposes
a change.

Without --live the model is a script and nothing leaves this machine. In the
middle of a turn the program kills itself and is started again, to show that
no call that had ended is made a second time. A proposed change needs
approval: it is asked for on a terminal, and given by a stated rule where
there is none. DIR itself is never changed.

Exit code: 0 when the agent came to an answer, 1 when it did not, 2 for a
wrong command line or DIR, 130 when it was stopped.`;

/** Reads the command line. Prints help or complaints itself, and ends the process then. */
export function readOptions(args: readonly string[]): Options {
  const program = new Command("npm run demo:agent --")
    .description(DESCRIPTION)
    .argument("[DIR]", "directory with node_modules", ".")
    .option("--no-crash", "run straight through, without the kill")
    .option("--live", "ask a real model: the key is in ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY")
    .option("--model <name>", "with --live: the name of that model (default: the provider's)")
    .option("--yes", "approve every change without asking")
    .option("--json", "print the report as JSON on stdout, and everything else on stderr")
    .option(
      "--data <dir>",
      "keep log and proposals here, and go on with what is there (default: a new temporary directory)",
    )
    .option("--keep", "keep that directory afterwards", true)
    .option("--no-keep", "remove it then")
    .addOption(new Option("--life <n>").argParser(Number).hideHelp())
    .addOption(new Option("--since <ms>").argParser(Number).hideHelp())
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  program.parse(args, { from: "user" });
  const { data, ...rest } = program.opts<Omit<Options, "tree" | "directory"> & { readonly data?: string }>();
  if (rest.model !== undefined && !rest.live)
    program.error("error: --model names a real model, and needs --live");
  const directory = data === undefined ? undefined : resolve(data);
  return { ...rest, tree: resolve(program.args[0] ?? "."), directory };
}
