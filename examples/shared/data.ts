// Data: the directory a program keeps. It belongs to one tree, so that starting again goes on with the same work.

import { mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What every program has in it; each adds the place of its own results. */
export interface DataDirectory {
  readonly dir: string;
  /** heddle's log. */
  readonly log: string;
  /** What effects note down outside the log. */
  readonly counter: string;
  /** Names the tree. */
  readonly owner: string;
}

export function makeTemporaryDirectory(program: string): string {
  return mkdtempSync(join(tmpdir(), `heddle-${program}-`));
}

/** Where what is in it. */
export function dataIn(dir: string): DataDirectory {
  return { dir, log: join(dir, "log"), counter: join(dir, "counter.log"), owner: join(dir, "tree.txt") };
}

/** Makes an existing directory that of `tree`. False when it belongs to another one. */
export function claimFor(tree: string, { owner }: DataDirectory): boolean {
  try {
    writeFileSync(owner, tree, { flag: "wx" });
    return true;
  } catch {
    return readFileSync(owner, "utf8") === tree;
  }
}

/** Removes what the program made. The directory itself may be the user's, so it only goes when it is empty then. */
export function removeData({ dir, ...parts }: DataDirectory): void {
  for (const part of Object.values(parts)) rmSync(part, { recursive: true, force: true });
  if (readdirSync(dir).length === 0) rmdirSync(dir);
}
