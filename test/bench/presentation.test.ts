import { describe, expect, it } from "vitest";
import { present } from "../../bench/harness/presentation.js";
import { quantile, quantileCurve } from "../../bench/harness/quantile.js";
import { renderTable } from "../../bench/harness/table.js";
import { reportOf, rowOf } from "./rows.js";

describe("what is printed", () => {
  it("aligns words for a terminal and for Markdown", () => {
    const columns = [
      { heading: "name", align: "left", cell: ([name]: readonly [string, string]) => name },
      { heading: "n", align: "right", cell: ([, n]: readonly [string, string]) => n },
    ] as const;
    const rows = [
      ["a", "1"],
      ["longer", "100"],
    ] as const;
    expect(renderTable(columns, rows, "text")).toBe(
      ["name      n", "------  ---", "a         1", "longer  100"].join("\n"),
    );
    expect(renderTable(columns, rows, "markdown")).toBe(
      ["| name   |   n |", "| ------ | --: |", "| a      |   1 |", "| longer | 100 |"].join("\n"),
    );
  });

  it("names the machine and the disk, and warns of figures that mean nothing", () => {
    const calm = reportOf([rowOf("one-step/flush/1", "executions/s", 0.5)]);
    expect(present(calm, "text")).toMatch(
      /2 cores, Some processor.*ext4, 4 KiB written and flushed in 1\.00 ms/,
    );
    expect(present(calm, "text")).not.toMatch(/busy|--quick/);
    const busy = { ...calm, quick: true, machine: { ...calm.machine, loadPerCore: 1 } };
    expect(present(busy, "markdown")).toMatch(/--quick run.*busy/s);
  });

  it.each([
    ["a rate that is high enough", "executions/s", 0.61, { ratio: 0.6 }, "≥ 0.60: held"],
    ["a rate that is too low", "executions/s", 0.59, { ratio: 0.6 }, "≥ 0.60: MISSED"],
    ["a time that is short enough", "ms", 1.29, { ratio: 1.3 }, "≤ 1.30: held"],
    ["a time that is too long", "ms", 1.31, { ratio: 1.3 }, "≤ 1.30: MISSED"],
    ["a median, of which the ratio says nothing", "ms", 9, { median: 1 }, "≤ 1 ms: held"],
    ["either of two", "calls/s", 0.4, { ratio: 0.5, median: 1 }, "≥ 0.50 or 1 calls/s: held"],
    [
      "neither of two",
      "calls/s",
      0.4,
      { ratio: 0.5, median: 3_000_000 },
      "≥ 0.50 or 3,000,000 calls/s: MISSED",
    ],
  ] as const)("tells whether what was promised holds: %s", (_title, unit, ratio, target, words) => {
    const text = present(reportOf([{ ...rowOf("one-step/flush/1", unit, ratio), target }]), "text");
    expect(text).toContain(words);
  });

  it("has a place for every row, and names its durability", () => {
    const units = ["executions/s", "ms", "bytes"] as const;
    const rows = units.flatMap((unit) => {
      return (["flush", "commit", "none"] as const).flatMap((sync) => {
        return ["limit", "another"].map((name) => {
          const row = rowOf(`${unit}-${sync}-${name}`, unit, 1);
          return { ...row, sync, against: { ...row.against, name } };
        });
      });
    });
    const text = present(reportOf(rows), "markdown");
    for (const { id, sync } of rows) expect(text).toMatch(new RegExp(`^\\| ${id} +\\| ${sync} +\\|`, "m"));
  });

  it("takes the curve of times as far as there are values to tell it", () => {
    const hundred = Float64Array.from({ length: 100 }, (_, n) => 100 - n);
    expect(quantileCurve([hundred])).toEqual([
      ...[0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99].map((share) => [share, Math.max(1, share * 100)]),
      [1, 100],
    ]);
  });

  it("takes percentiles over all samples together", () => {
    const parts = [Float64Array.of(4, 1), Float64Array.of(3, 2)];
    expect([0, 0.5, 0.51, 1].map((share) => quantile(parts, share))).toEqual([1, 2, 3, 4]);
    expect(quantile([], 0.5)).toBeNaN();
  });
});
