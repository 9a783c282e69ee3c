// Folder: the packages of the other systems, which are installed on demand and belong to nobody else.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

export const FOLDER = join(dirname(require.resolve("heddle/package.json")), "bench", "peers", "others");

/** openworkflow needs node:sqlite, and better-sqlite3 what Node 22 offers to native code. */
const NODE_LEAST = [22, 13] as const;

export function isInstalled(folder: string): boolean {
  const stamp = stampOf(folder);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === lockHash(folder);
}

/** Throws when npm fails; what it prints goes to standard error. */
export function install(folder: string): void {
  const shell = process.platform === "win32";
  const { status } = spawnSync("npm", ["ci", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
    shell,
  });
  if (status !== 0) throw new Error(`npm ci in ${folder} ended with ${status ?? "a signal"}.`);
  writeFileSync(stampOf(folder), lockHash(folder));
}

/**
 * The program that every system runs on, heddle as well: this one when it is new enough, else the one among the packages.
 * `undefined`: there is neither.
 */
export function nodeFor(folder: string): string | undefined {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > NODE_LEAST[0] || (major === NODE_LEAST[0] && minor >= NODE_LEAST[1])) return process.execPath;
  const packaged = join(folder, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  return existsSync(packaged) ? packaged : undefined;
}

function stampOf(folder: string): string {
  return join(folder, "node_modules", ".installed-from");
}

function lockHash(folder: string): string {
  return createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
}
