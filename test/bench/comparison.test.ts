import { describe, expect, it } from "vitest";
import { compareReports, presentChanges } from "../../bench/harness/comparison.js";
import { parseReport } from "../../bench/harness/report.js";
import { reportOf, rowOf } from "./rows.js";

describe("an earlier run", () => {
  it.each([
    ["a rate that fell by more than a tenth", "executions/s", 0.6, 0.53, "regression"],
    ["a rate that fell by less", "executions/s", 0.6, 0.55, "same"],
    ["a rate that rose", "steps/s", 0.6, 0.7, "better"],
    ["a time that rose by more than a tenth", "ms", 1.3, 1.45, "regression"],
    ["a time that rose by less", "ms", 1.3, 1.42, "same"],
    ["a time that fell", "ms", 1.3, 1.1, "better"],
  ] as const)("is compared by ratio: %s", (_title, unit, before, after, verdict) => {
    const changes = compareReports(reportOf([rowOf("a", unit, before)]), reportOf([rowOf("a", unit, after)]));
    expect(changes).toMatchObject([{ id: "a", before, after, verdict }]);
  });

  it("is compared in the rows that both have", () => {
    const before = reportOf([rowOf("gone", "ms", 1), rowOf("kept", "ms", 1)]);
    const after = reportOf([rowOf("kept", "ms", 1), rowOf("new", "ms", 1)]);
    expect(compareReports(before, after).map(({ id }) => id)).toEqual(["kept"]);
    const text = presentChanges(compareReports(before, after), before, after, "text");
    expect(text).toContain("Only in the earlier run: gone.");
    expect(text).toContain("Only in this run: new.");
    expect(text).toContain("0 of 1 ratios are worse");
    expect(presentChanges([], before, reportOf([]), "text")).toContain("no row in common");
  });

  it("tells of a target that held and does not now, by the target that stands now", () => {
    const lost = (old: number, now: number) => {
      const after = { ...rowOf("a", "executions/s", now), target: { ratio: 0.6 } };
      const before = { ...rowOf("a", "executions/s", old), target: { ratio: 0.5 } };
      return compareReports(reportOf([before]), reportOf([after]))[0]?.isTargetLost;
    };
    expect([lost(0.62, 0.58), lost(0.62, 0.61), lost(0.59, 0.58)]).toEqual([true, false, false]);
    const [before, after] = [0.62, 0.5].map((ratio) => {
      return reportOf([{ ...rowOf("a", "executions/s", ratio), target: { ratio: 0.6 } }]);
    }) as [ReturnType<typeof reportOf>, ReturnType<typeof reportOf>];
    const text = presentChanges(compareReports(before, after), before, after, "text");
    expect(text).toContain("REGRESSION, target lost");
  });

  it("on another machine is named as such beside the ratios", () => {
    const before = reportOf([rowOf("a", "ms", 1)]);
    const after = { ...before, machine: { ...before.machine, cores: 64 }, quick: true };
    const text = presentChanges(compareReports(before, after), before, after, "text");
    expect(text).toContain("The runs are not alike: full then, --quick now, 2 cores then, 64 cores now.");
    expect(text).toContain("0 of 1 ratios are worse");
  });

  it("comes back from its file as it was, and a file of another shape is refused", () => {
    const report = reportOf([rowOf("a", "ms", 1)]);
    expect(parseReport(JSON.stringify(report))).toEqual(report);
    expect(() => parseReport(JSON.stringify({ ...report, format: 2 }))).toThrow("format");
  });
});
