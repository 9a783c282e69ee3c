import { describe, expect, it } from "vitest";
import { present } from "../../bench/harness/presentation.js";
import { quantile } from "../../bench/harness/quantile.js";
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

  it("takes percentiles over all samples together", () => {
    const parts = [Float64Array.of(4, 1), Float64Array.of(3, 2)];
    expect([0, 0.5, 0.51, 1].map((share) => quantile(parts, share))).toEqual([1, 2, 3, 4]);
    expect(quantile([], 0.5)).toBeNaN();
  });
});
