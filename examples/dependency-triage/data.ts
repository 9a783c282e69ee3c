// Data: the directory of one triage. It belongs to one tree, so that starting again goes on with the same work.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface DataDirectory {
  readonly dir: string;
  /** heddle's log. */
  readonly log: string;
  /** What the agent proposes, one file a change. */
  readonly proposals: string;
  /** What models and tools note down outside the log. */
  readonly counter: string;
  /** Names the tree. */
  readonly owner: string;
}

export function makeTemporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), "heddle-dependency-triage-"));
}

/** Opens the data of a triage of `tree`, and makes what is missing. Undefined when it holds that of another tree. */
export function openData(dir: string, tree: string): DataDirectory | undefined {
  const data: DataDirectory = {
    dir,
    log: join(dir, "log"),
    proposals: join(dir, "proposals"),
    counter: join(dir, "counter.log"),
    owner: join(dir, "tree.txt"),
  };
  mkdirSync(data.proposals, { recursive: true });
  try {
    writeFileSync(data.owner, tree, { flag: "wx" });
  } catch {
    if (readFileSync(data.owner, "utf8") !== tree) return undefined;
  }
  return data;
}

/** Removes what this program made. The directory itself may be the user's, so it only goes when it is empty then. */
export function removeData({ dir, ...parts }: DataDirectory): void {
  for (const part of Object.values(parts)) rmSync(part, { recursive: true, force: true });
  if (readdirSync(dir).length === 0) rmdirSync(dir);
}
