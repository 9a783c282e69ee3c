// Goal: the time of a profile is told once, where it went. Method: a profile put together by hand.

import { describe, expect, it } from "vitest";
import { type Call, callTree, type PlaceOf, selfTimes, sumOf } from "../../bench/flame/call-tree.js";
import { flameGraph } from "../../bench/flame/flame-graph.js";

const frame = (functionName: string, line = 0) => ({
  functionName,
  scriptId: "1",
  url: functionName.startsWith("(") ? "" : "file:///a.js",
  lineNumber: line,
  columnNumber: 0,
});
const node = (id: number, name: string, children: number[] = []) => ({
  id,
  callFrame: frame(name),
  children,
});

const profile = {
  nodes: [
    node(1, "(root)", [2, 3, 6, 7]),
    node(2, "run", [4]),
    node(3, "run", [5]),
    node(4, "step"),
    node(5, "step"),
    node(6, "(garbage collector)"),
    node(7, "audit"),
  ],
  startTime: 0,
  endTime: 1_000,
  samples: [2, 4, 5, 6, 7],
  timeDeltas: [100, 200, 300, 50, 999],
};
const placeOf: PlaceOf = ({ functionName, url }) => ({
  owner: url === "" ? "engine" : "heddle",
  where: url === "" ? functionName : `${functionName}.ts:1`,
});
const calls = callTree(profile, placeOf, ({ where }) => where.startsWith("audit"));
const brief = ({ name, totalUs, selfUs, calls }: Call): unknown => [name, totalUs, selfUs, calls.map(brief)];

describe("a flame graph", () => {
  it("adds up calls of the same function from the same caller, the longest first, without what is off the clock", () => {
    expect(calls.map(brief)).toEqual([
      ["run", 600, 100, [["step", 500, 500, []]]],
      ["(garbage collector)", 50, 50, []],
    ]);
    expect(sumOf(calls)).toBe(650);
  });

  it("tells what functions spent themselves, whoever called them", () => {
    expect(selfTimes(calls).map(({ name, selfUs }) => [name, selfUs])).toEqual([
      ["step", 500],
      ["run", 100],
      ["(garbage collector)", 50],
    ]);
  });

  it("says of each call where it is and what it took, and leaves out what nobody would see", () => {
    const tiny: Call = { name: "tiny", owner: "node", where: "node:x:1", totalUs: 1, selfUs: 1, calls: [] };
    const svg = flameGraph([...calls, tiny], { title: "<row>", subtitle: [] });
    expect(svg).toContain("<title>step, step.ts:1: 76.8 % (1 ms), itself 76.8 %</title>");
    expect(svg).toContain("<title>&lt;row&gt;</title>");
    expect(svg.match(/<g>/g)).toHaveLength(3);
  });
});
