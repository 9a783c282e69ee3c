// Options: the command line of the steady load.

import { parseArgs } from "node:util";
import { UsageError } from "../command.js";
import type { Sync } from "../harness/side.js";

export const HELP = `Keeps a fixed load on one log for long, and tells whether memory and times stayed the same.

  npm run bench:steady -- [options]

  --minutes N     how long (default 60)
  --percent P     the load, of the most that the same log does with 1,000 in flight (default 50)
  --rate N        the load as executions a second, instead
  --sync SYNC     flush (default) or commit
  --out DIR       where steady.json is written (default bench/results)
  --help          this text

Ends with 1 when something grew. The log is written to the system's temporary directory (TMPDIR moves it); every execution stays in it, so an
hour takes tens of gigabytes, and a run that does not fit is refused before it begins.
`;

export interface SteadyOptions {
  readonly minutes: number;
  readonly percent: number;
  readonly rate: number | undefined;
  readonly sync: Sync;
  readonly out: string;
  readonly help: boolean;
}

/** Throws UsageError. */
export function readSteadyOptions(args: readonly string[]): SteadyOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string", default: "60" },
      percent: { type: "string", default: "50" },
      rate: { type: "string" },
      sync: { type: "string", default: "flush" },
      out: { type: "string", default: "bench/results" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const { minutes, percent, rate, sync, out, help } = values;
  if (sync !== "flush" && sync !== "commit") throw new UsageError(`--sync is flush or commit, not ${sync}.`);
  return {
    minutes: positive("minutes", minutes),
    percent: positive("percent", percent),
    rate: rate === undefined ? undefined : positive("rate", rate),
    sync,
    out,
    help,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`--${name} is a number above 0, not ${text}.`);
}
