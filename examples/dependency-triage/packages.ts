// Packages: what the agent can find out about a tree. Plain code over the file system; every answer is bounded, and no path that a
// model gives leads out of the tree.

import { readdir, readFile, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { findLicense, type LicenseFinding } from "../license-audit/license.js";
import { findPackages, type Package } from "../license-audit/scan.js";

/** A package as a model is told of it. */
export interface Listed {
  readonly name: string;
  readonly version: string;
  readonly path: string;
}

const EXCERPT_CHARS = 1_200;
const HITS_MAX = 20;
const FILE_CHARS_MAX = 256 * 1024;

export async function listPackages(
  tree: string,
  limit: number,
): Promise<{ total: number; packages: Listed[] }> {
  const packages = await findPackages(tree);
  return {
    total: packages.length,
    packages: packages.slice(0, limit).map(({ name, version, path }) => ({ name, version, path })),
  };
}

export async function readLicense(tree: string, name: string): Promise<LicenseFinding> {
  return findLicense((await packageNamed(tree, name)).dir);
}

/** The beginning of its changelog. Undefined: it has none. */
export async function readChangelog(tree: string, name: string): Promise<string | undefined> {
  const { dir } = await packageNamed(tree, name);
  const file = (await filesIn(dir)).find((name) => /^(changelog|history|changes)(\.|$)/i.test(name));
  return file && (await readFile(join(dir, file), "utf8")).slice(0, EXCERPT_CHARS);
}

/** Lines with the text, in the JavaScript, JSON and Markdown files at the top of a package. */
export async function searchFiles(
  tree: string,
  name: string,
  text: string,
): Promise<{ file: string; line: string }[]> {
  const { dir } = await packageNamed(tree, name);
  const hits: { file: string; line: string }[] = [];
  for (const file of await filesIn(dir)) {
    if (!/\.(c?m?js|json|md)$/i.test(file)) continue;
    const content = (await readFile(join(dir, file), "utf8")).slice(0, FILE_CHARS_MAX);
    for (const [i, line] of content.split("\n").entries()) {
      if (!line.includes(text)) continue;
      hits.push({ file: `${file}:${i + 1}`, line: line.trim().slice(0, 200) });
      if (hits.length === HITS_MAX) return hits;
    }
  }
  return hits;
}

/** The names of ordinary files: a link may lead anywhere. */
async function filesIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted();
}

/** By its name among those that are installed: a model names packages, and never directories. */
async function packageNamed(tree: string, name: string): Promise<Package> {
  const found = (await findPackages(tree)).find((pkg) => pkg.name === name);
  if (!found) throw new Error(`No package ${name} is installed here: list the packages first.`);
  const inside = relative(await realpath(tree), found.dir);
  if (inside.split(sep)[0] === "..")
    throw new Error(`${name} is linked to a place outside of this directory.`);
  return found;
}
