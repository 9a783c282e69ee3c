// Build of the bench: brings dist/ up to date and compiles bench/ into build/.
//
// Every file is put into its place whole, so that a bench which is running, and starts a process a side, never reads one that is
// half written by another that begins. tsc writes in place.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const build = join(root, "build");
// Beside build/, so that source maps lead to the same places.
const next = join(root, `build.next-${process.pid}`);

try {
  run("scripts/build.mjs", "--if-stale");
  run("node_modules/typescript/bin/tsc", "-p", "tsconfig.bench.json", "--outDir", next);
  for (const entry of readdirSync(next, { recursive: true, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) continue;
    const to = join(build, from.slice(next.length));
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
} finally {
  rmSync(next, { recursive: true, force: true });
}

function run(script, ...args) {
  const { status, error } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) {
    rmSync(next, { recursive: true, force: true });
    process.exit(status ?? 1);
  }
}
