// Opening a log: from what somebody typed after --db to a directory that can be read, or words that help.

import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { HeddleError } from "../kernel/errors.js";
import { LogInspector } from "../kernel/store/lmdb/log-inspector.js";
import { CommandFailure } from "./failure.js";

/** Throws DIRECTORY_UNKNOWN or FORMAT_UNSUPPORTED. */
export function openLog(directory: string): LogInspector {
  try {
    return new LogInspector(directory);
  } catch (error) {
    if (!(error instanceof HeddleError && error.code === "DIRECTORY_UNKNOWN")) throw error;
    const near = logsNear(directory).map((path) => `  --db ${path}`);
    const advice =
      near.length === 0 ? "Give --db the directory that lmdbStorage({ dir }) has." : "Did you mean";
    throw new CommandFailure(1, [`${complaint(directory)}`, advice, ...near].join("\n"), error.code);
  }
}

function complaint(directory: string): string {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (!found) return `There is no directory ${directory}.`;
  if (!found.isDirectory()) return `${directory} is a file, not the directory of a heddle log.`;
  return `${directory} is not the directory of a heddle log: it has no heddle.json.`;
}

const NEAR_MAX = 5;
const ENTRIES_MAX = 1000;

/** Logs one level up or down: people name the project, or a partition. */
function logsNear(directory: string): string[] {
  const below = directoriesIn(directory).map((name) => join(directory, name));
  return [dirname(directory), ...below].filter(isLog).slice(0, NEAR_MAX);
}

function directoriesIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true }).slice(0, ENTRIES_MAX);
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function isLog(directory: string): boolean {
  return statSync(join(directory, "heddle.json"), { throwIfNoEntry: false })?.isFile() ?? false;
}
