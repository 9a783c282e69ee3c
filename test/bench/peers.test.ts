// Goal: the comparison with other systems leaves out what cannot run here and says why, and measures the rest.
//
// The other systems' packages are no part of heddle's installation: a folder stands in for theirs, with systems of a few lines.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UsageError } from "../../bench/command.js";
import { readOptions } from "../../bench/peers/options.js";
import type { PeerReport } from "../../bench/peers/report.js";
import { SYSTEMS } from "../../bench/peers/systems.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
let scratch: string;
let folder: string;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "peers-test-"));
  folder = mkdtempSync(join(scratch, "others-"));
  const lock = "{}";
  writeFileSync(join(folder, "package-lock.json"), lock);
  mkdirSync(join(folder, "node_modules"));
  writeFileSync(
    join(folder, "node_modules", ".installed-from"),
    createHash("sha256").update(lock).digest("hex"),
  );
  // So that the test needs no newer Node than heddle does.
  const packaged = join(folder, "node_modules", `node-${process.platform}-${process.arch}`, "bin");
  mkdirSync(packaged, { recursive: true });
  writeFileSync(join(packaged, "node"), `#!/bin/sh\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });

  system("dbos", `({ skipped: "no PostgreSQL found; set PGURL" })`);
  system("restate", opened("run: async ({ n }) => ({ ok: true, n })"));
  system("langgraph", opened("run: async ({ n }) => ({ ok: true, n: n + 1 })"));
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function system(name: string, result: string): void {
  writeFileSync(
    join(folder, `${name}.mjs`),
    `export const open = async (directory, { inFlight, asItComes }) => ${result};\n`,
  );
}

function opened(run: string): string {
  return `({ version: "1.2.3", durability: asItComes ? "commit" : "flush", evidence: "sync on", configuration: "up to " + inFlight, ${run}, close: async () => {} })`;
}

function peers(...args: string[]) {
  const shell = process.platform === "win32";
  return spawnSync("npm", ["run", "--silent", "bench:peers", "--", "--quick", ...args], {
    cwd: root,
    env: { ...process.env, TMPDIR: scratch },
    encoding: "utf8",
    shell,
  });
}

describe("npm run bench:peers", () => {
  it("measures what is there, skips what is not with a clear word, and ends with 0", () => {
    const json = join(scratch, "peers.json");
    const only = ["heddle", "dbos", "openworkflow", "restate"].flatMap((name) => ["--only", name]);
    const run = peers(...only, "--folder", folder, "--json", json, "--markdown");
    expect(run.status, run.stderr).toBe(0);
    const report = JSON.parse(readFileSync(json, "utf8")) as PeerReport;
    expect(report.rows.map(({ name, kind }) => [name, kind])).toEqual([
      ["heddle", "measured"],
      ["dbos", "skipped"],
      ["openworkflow", "skipped"],
      ["restate", "measured"],
    ]);
    expect(run.stdout).toMatch(/^\| heddle +\| 0\.1\.0, lmdb .*\| on the disk/m);
    expect(run.stdout).toContain("- dbos: skipped: no PostgreSQL found; set PGURL");
    expect(run.stdout).toContain(`- openworkflow: skipped: ${join(folder, "openworkflow.mjs")} is not there`);
    expect(run.stdout).toContain("- restate: up to 1000. It reports sync on.");
    expect(readdirSync(scratch).filter((name) => name.startsWith("heddle-bench-"))).toEqual([]);
  }, 60_000);

  it("skips everything of others when their packages are not there and shall not be installed", () => {
    const empty = mkdtempSync(join(scratch, "empty-"));
    writeFileSync(join(empty, "package-lock.json"), "{}");
    const run = peers("--only", "dbos", "--folder", empty, "--no-install");
    expect(run.stdout).toContain("- dbos: skipped: its packages are not installed; run without --no-install");
    expect(run.status, run.stderr).toBe(0);
  }, 60_000);

  it("ends with 2 when a system gives wrong results, and says which", () => {
    const run = peers("--only", "langgraph", "--folder", folder);
    expect(run.stdout).toMatch(
      /- langgraph: failed: .*returned \{"ok":true,"n":1\} as the output of execution 0/,
    );
    expect(run.status).toBe(2);
  }, 60_000);
});

describe("the options of the comparison", () => {
  it("name every system when one is unknown", () => {
    const names = SYSTEMS.map(({ name }) => name).join(", ");
    expect(() => readOptions(["--only", "no-such"])).toThrow(
      new UsageError(`No system is called no-such. There are: ${names}.`),
    );
  });

  it("take --only several times, and everything without it", () => {
    const chosen = (...args: string[]) => readOptions(args).chosen.map(({ name }) => name);
    expect(chosen("--only", "restate", "--only", "heddle")).toEqual(["heddle", "restate"]);
    expect(chosen()).toEqual(SYSTEMS.map(({ name }) => name));
  });
});
