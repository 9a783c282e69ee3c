// Goal: a long run is judged by what it is: nothing is called flat that is not surely so, and what grows is found out.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { trendOf } from "../../bench/harness/trend.js";
import type { SteadyReport } from "../../bench/steady/steady-report.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const SECONDS = 600;
/** The same each time, and without a pattern that a line could follow. */
const noise = (n: number): number => Math.sin(n * n);
const course = (of: (n: number) => number): number[] => Array.from({ length: SECONDS }, (_, n) => of(n));

describe("a trend", () => {
  it.each([
    ["what stays the same", course(() => 100), "flat"],
    ["what scatters around the same", course((n) => 100 + 20 * noise(n)), "flat"],
    [
      "what grows by a third, below its scatter",
      course((n) => 100 + (33 * n) / SECONDS + 20 * noise(n)),
      "grows",
    ],
    ["what shrinks by a third", course((n) => 100 - (33 * n) / SECONDS + 20 * noise(n)), "shrinks"],
    ["what grows by a twentieth", course((n) => 100 + (5 * n) / SECONDS), "flat"],
    ["what goes up and down for long", course((n) => 100 + 50 * Math.cos((12 * n) / SECONDS)), "unknown"],
    ["what was looked at too rarely", course(() => 100).slice(0, 39), "unknown"],
  ] as const)("tells %s", (_title, values, verdict) => {
    expect(trendOf(values).verdict).toBe(verdict);
  });

  it("has the growth over the whole run, and how far off it may be", () => {
    const { mean, growth, error } = trendOf(course((n) => 100 + (30 * n) / SECONDS + noise(n)));
    expect(mean).toBeCloseTo(115, 0);
    expect(Math.abs(growth - 30)).toBeLessThan(error + 0.5);
    expect(error).toBeLessThan(2);
  });
});

describe("npm run bench:steady", () => {
  let scratch: string;
  beforeAll(() => {
    scratch = mkdtempSync(join(tmpdir(), "steady-test-"));
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  function steady(...args: string[]) {
    const env = { ...process.env, TMPDIR: scratch };
    const shell = process.platform === "win32";
    return spawnSync("npm", ["run", "--silent", "bench:steady", "--", ...args], {
      cwd: root,
      env,
      encoding: "utf8",
      shell,
    });
  }

  it("keeps a load for as long as it is told, looks at it each second and leaves its report alone", () => {
    const out = join(scratch, "out");
    const run = steady("--minutes", "0.06", "--rate", "200", "--sync", "commit", "--out", out);
    expect(run.status, run.stderr).toBe(0);
    expect(run.stdout).toContain("720 executions in 0.06 minutes, commit: 200 a second");
    const report = JSON.parse(readFileSync(join(out, "steady.json"), "utf8")) as SteadyReport;
    expect(report).toMatchObject({ executions: 720, perSecond: 200, sync: "commit" });
    expect(report.seconds.length).toBeGreaterThanOrEqual(3);
    for (const { perSecond, p99Ms, ownMB, rssMB, logMB } of report.seconds) {
      expect(perSecond).toBeGreaterThan(0);
      expect(p99Ms).toBeGreaterThan(0);
      expect(rssMB).toBeGreaterThanOrEqual(ownMB);
      expect(logMB).toBeGreaterThan(0);
    }
    for (const { curves } of report.course.panels) {
      for (const { points } of curves) expect(points).toHaveLength(report.seconds.length);
    }
    // Three seconds tell nothing, and it says so.
    expect(report.trends.map(({ verdict }) => verdict)).toEqual(Array(5).fill("unknown"));
    expect(readdirSync(scratch)).toEqual(["out"]);
  }, 60_000);

  it("refuses what would not fit on the disk, and what it does not understand", () => {
    const large = steady("--minutes", "10000000");
    expect(large.stderr).toMatch(/The log would take [\d]+ GB, and there are \d+ GB: lower --rate/);
    expect(large.status).toBe(2);
    expect(steady("--minutes", "soon").stderr).toContain("--minutes is a number above 0, not soon.");
    expect(steady("--sync", "never").stderr).toContain("--sync is flush or commit, not never.");
  }, 60_000);
});
