import { describe, expect, it } from "vitest";
import { plotsOf } from "../../bench/plots/index.js";
import { reportOf, rowOf } from "./rows.js";

const rows = [
  { ...rowOf("one-step/flush/1", "executions/s", 0.7), inFlight: 1 },
  { ...rowOf("one-step/flush/1000", "executions/s", 0.6), inFlight: 1_000, target: { ratio: 0.65 } },
  rowOf("agent-growth/bytes/50", "bytes", 1.1),
  rowOf("agent-growth/bytes/200", "bytes", 0),
  {
    ...rowOf("steps/25000", "ms", 1),
    course: {
      along: "steps",
      panels: [{ title: "ms", curves: [{ name: "run", points: [[0, 1] as [number, number]] }] }],
    },
  },
];
const plots = plotsOf(reportOf(rows));

describe("the plots of a report", () => {
  it("are those for which it has rows", () => {
    const names = ["bench-ratios.svg", "bench-in-flight.svg", "bench-agents.svg", "bench-steps-25000.svg"];
    expect([...plots.keys()]).toEqual(names);
    expect([...plotsOf(reportOf([rowOf("a", "ms", 1)])).keys()]).toEqual(["bench-ratios.svg"]);
  });

  it("are well-formed, whatever the figures are, and name the machine", () => {
    for (const [name, plot] of plots) {
      expect(plot, name).not.toMatch(/NaN|undefined|Infinity/);
      expect(plot, name).toContain("2 cores, Some processor");
      const open = plot.replaceAll(/<(\w+)[^<>]*\/>/g, "").match(/<\w/g)?.length;
      expect(open, name).toBe(plot.match(/<\/\w/g)?.length);
    }
  });

  it("tell the target of a row and whether it holds", () => {
    const [ratios] = plots.values();
    expect(ratios?.match(/class="target"/g)).toHaveLength(2); // The row's, and the legend's.
    expect(ratios).toContain("0.60 ± 0.00 of limit; flush; missed: 0.65");
  });
});
