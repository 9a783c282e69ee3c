// Options: the command line of the bench.

import { parseArgs } from "node:util";
import { UsageError } from "./command.js";

export const HELP = `Measures heddle beside a raw LMDB baseline that makes the same commits.

  npm run bench -- [options]

  --quick           seconds instead of minutes: shows that the bench works, measures nothing
  --only PATTERN    only rows whose name matches this regular expression, such as "one-step" or "flush/1000$"
  --list            the names of all rows
  --out DIR         where report.json and the plots go; default bench/results
  --markdown        prints Markdown, with links to the plots as if they lay in images/
  --flame ROW       measures nothing: profiles our side of one row, and draws a flame graph
  --compare FILE    compares ratios with an earlier report.json; ends with 1 when one is worse by more than 10 %
  --help            this text

Logs are written to the system's temporary directory: set TMPDIR to measure another disk.
`;

const RESULTS = "bench/results";

export interface BenchOptions {
  readonly quick: boolean;
  readonly only: RegExp;
  readonly list: boolean;
  readonly out: string;
  readonly markdown: boolean;
  readonly compare: string | undefined;
  readonly flame: string | undefined;
  readonly help: boolean;
}

export function readOptions(args: readonly string[]): BenchOptions {
  try {
    return parse(args);
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
  }
}

function parse(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      list: { type: "boolean", default: false },
      out: { type: "string", default: RESULTS },
      markdown: { type: "boolean", default: false },
      flame: { type: "string" },
      compare: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const { quick, only, list, out, markdown, compare, flame, help } = values;
  return { quick, only: new RegExp(only, "i"), list, out, markdown, compare, flame, help };
}
