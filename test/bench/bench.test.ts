// Goal: the command in the documentation works, every row is measured, and a regression is told by the exit code.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseReport, type Report } from "../../bench/harness/report.js";
import { questions } from "../../bench/questions/index.js";
import { TARGETS } from "../../bench/questions/targets.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
let scratch: string;
let quick: ReturnType<typeof bench>;
let report: Report;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "bench-test-"));
  quick = bench("--quick", "--out", join(scratch, "results"), "--markdown");
  expect(quick.status, quick.stderr).toBe(0);
  report = parseReport(readFileSync(join(scratch, "results", "report.json"), "utf8"));
}, 300_000);

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function bench(...args: string[]) {
  // Its logs go where this test can see that nothing is left of them.
  const env = { ...process.env, TMPDIR: scratch };
  const shell = process.platform === "win32";
  return spawnSync("npm", ["run", "--silent", "bench", "--", ...args], {
    cwd: root,
    env,
    encoding: "utf8",
    shell,
  });
}

describe("npm run bench", () => {
  it("measures every row in --quick form, prints it and writes it", () => {
    expect(report.rows.map(({ id }) => id)).toEqual(questions.map(({ id }) => id));
    expect(report.quick).toBe(true);
    for (const row of report.rows) {
      expect(row.ratio.median, row.id).toBeGreaterThan(0);
      expect(row.rounds, row.id).toBeGreaterThan(1);
      expect(quick.stdout).toContain(`| ${row.id} `);
    }
  });

  it("knows what was promised of its rows, and promises nothing of a row that is not there", () => {
    const promised = report.rows.filter(({ target }) => target).map(({ id }) => id);
    expect(promised.toSorted()).toEqual([...TARGETS.keys()].toSorted());
    expect(quick.stdout).toMatch(/one-step\/flush\/1000 .*≥ 0\.60: (held|MISSED)/);
  });

  it.runIf(process.platform === "linux")("counts what executions, steps and turns send to the disk", () => {
    for (const id of ["one-step/flush/1000", "ten-steps/flush/1000", "agents/flush/0"]) {
      const row = report.rows.find((found) => found.id === id);
      expect(row?.heddle.writtenBytes, id).toBeGreaterThan(100);
      expect(row?.heddle.cpuUs, id).toBeGreaterThan(1);
    }
  });

  it("leaves nothing in the temporary directory", () => {
    expect(readdirSync(scratch).filter((name) => name.startsWith("heddle-bench-"))).toEqual([]);
  });

  // A hundred times is more than any noise.
  it.each([
    ["ends with 1 when a ratio is worse", 100, 1, "1 of 1 ratios are worse"],
    ["ends with 0 when none is", 0.01, 0, "0 of 1 ratios are worse"],
  ])("%s than in an earlier run", (_title, factor, status, words) => {
    const earlier = join(scratch, `earlier-${status}.json`);
    const rows = report.rows.map((row) => ({
      ...row,
      ratio: { ...row.ratio, median: row.ratio.median * factor },
    }));
    writeFileSync(earlier, JSON.stringify({ ...report, rows }));
    const run = bench(
      "--quick",
      "--only",
      "^one-step/commit/100$",
      "--out",
      join(scratch, "again"),
      "--compare",
      earlier,
    );
    expect(run.stdout).toContain(words);
    expect(run.status, run.stderr).toBe(status);
  });

  it("says what is wrong with a command line and measures nothing", () => {
    const unknown = bench("--only", "no-such-row");
    expect(unknown.stderr).toContain("There are: one-step/flush/1,");
    expect(unknown.status).toBe(2);
    expect(unknown.stdout).toBe("");
  });
});
