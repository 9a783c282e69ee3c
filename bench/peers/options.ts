// Options: the command line of the comparison.

import { parseArgs } from "node:util";
import { UsageError } from "../command.js";
import { FOLDER } from "./folder.js";
import { SYSTEMS, type SystemEntry } from "./systems.js";

const NAMES = SYSTEMS.map(({ name }) => name).join(", ");

export const HELP = `Measures one-step durable executions in heddle and in other systems, one after the other on this machine.

  npm run bench:peers -- [options]

  --only NAME       only this system; may be given several times. There are: ${NAMES}
  --json FILE       also writes everything to FILE
  --markdown        prints Markdown
  --quick           a twentieth of the work: shows that it runs, measures nothing
  --no-install      does not install the packages of bench/peers/others; what needs them is skipped
  --folder DIR      another folder with packages and NAME.mjs
  --help            this text

PGURL names a PostgreSQL server for what needs one, such as postgresql://postgres@127.0.0.1:5432/postgres; it gets a database
that is dropped again. Without it a private server is started where initdb and postgres are on this machine. What cannot run
here is skipped, with the reason. Data is written to the system's temporary directory: set TMPDIR to measure another disk.
`;

export interface PeerOptions {
  readonly chosen: readonly SystemEntry[];
  readonly json: string | undefined;
  readonly markdown: boolean;
  readonly quick: boolean;
  readonly install: boolean;
  readonly folder: string;
  readonly help: boolean;
}

/** Throws UsageError. */
export function readOptions(args: readonly string[]): PeerOptions {
  const { only, json, markdown, quick, folder, help, ...rest } = parse(args);
  const unknown = only.filter((name) => !SYSTEMS.some((system) => system.name === name));
  if (unknown.length > 0)
    throw new UsageError(`No system is called ${unknown.join(", ")}. There are: ${NAMES}.`);
  const chosen = SYSTEMS.filter(({ name }) => only.length === 0 || only.includes(name));
  return { chosen, json, markdown, quick, folder, help, install: !rest["no-install"] };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: "string", multiple: true, default: [] },
        json: { type: "string" },
        markdown: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
        "no-install": { type: "boolean", default: false },
        folder: { type: "string", default: FOLDER },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
  }
}
