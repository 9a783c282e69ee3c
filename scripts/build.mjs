// Build: compiles src/ into dist/.
//
//   node scripts/build.mjs               build, and fail on a type error
//   node scripts/build.mjs --if-stale    the same, but only when dist/ is older than its sources
//   node scripts/build.mjs --for-tests   as --if-stale; type errors are printed but do not stop the tests, which
//                                        judge behaviour (`npm run check` judges types before it runs them)
//
// The compiler writes beside dist/ and the result is swapped in, so dist/ is never seen empty or half written by a
// program or a test run that is using it, and nothing of a deleted source file survives.

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const flags = new Set(process.argv.slice(2));
const forTests = flags.has("--for-tests");

if (forTests || flags.has("--if-stale")) {
  if (!isStale()) process.exit(0);
}
process.exit(build());

/** The build's start time is kept as the modification time of dist/ itself: a source saved during a build is newer. */
function isStale() {
  if (!existsSync(join(dist, "index.js"))) return true;
  const built = statSync(dist).mtimeMs;
  const inputs = ["package.json", "tsconfig.json", "tsconfig.build.json", "scripts/build.mjs"].map(
    (name) => statSync(join(root, name)).mtimeMs,
  );
  return Math.max(newestUnder(join(root, "src")), ...inputs) >= built;
}

/** Directories count too: deleting or renaming a file leaves its mark only there. */
function newestUnder(directory) {
  let newest = statSync(directory).mtimeMs;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestUnder(path) : statSync(path).mtimeMs);
  }
  return newest;
}

function build() {
  const started = new Date();
  const next = join(root, `dist.next-${process.pid}`);
  rmSync(next, { recursive: true, force: true });
  try {
    const compiled = compile(next);
    if (compiled !== 0) {
      if (!forTests || !existsSync(join(next, "index.js"))) return compiled;
      console.warn("build: the type errors above did not stop the test run; `npm run check` fails on them.");
    }
    const bin = join(next, "cli", "main.js");
    if (existsSync(bin)) chmodSync(bin, 0o755);
    utimesSync(next, started, started);
    swapIn(next);
    return 0;
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

function compile(outDir) {
  // The compiler's own entry, not node_modules/.bin: a shell shim cannot be spawned directly on Windows.
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  const run = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", outDir], {
    cwd: root,
    stdio: "inherit",
  });
  if (run.error) throw run.error;
  return run.status ?? 1;
}

/** Two builds may finish together. Each moves what it finds out of the way; the one that comes last stays. */
function swapIn(next) {
  const old = join(root, `dist.old-${process.pid}`);
  for (let attempt = 0; ; attempt++) {
    rmSync(old, { recursive: true, force: true });
    try {
      if (existsSync(dist)) renameSync(dist, old);
      renameSync(next, dist);
      break;
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
  rmSync(old, { recursive: true, force: true });
}
