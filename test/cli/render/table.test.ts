import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { executionsTable } from "../../../src/cli/render/executions.js";
import { table } from "../../../src/cli/render/table.js";
import { columns } from "../../../src/cli/render/text.js";
import type { ExecutionHeader } from "../../../src/index.js";

const plain = pc.createColors(false);

describe("a table", () => {
  const people = [
    { title: "NAME", cells: ["Ada", "Grace Brewster Murray Hopper"], least: 6 },
    { title: "BORN", cells: ["1815", "1906"], align: "right" as const },
  ];

  it("is as wide as its cells", () => {
    expect(table(people, undefined, plain)).toEqual([
      "NAME                          BORN",
      "Ada                           1815",
      "Grace Brewster Murray Hopper  1906",
    ]);
  });

  it("gives way where it may, and no further", () => {
    expect(table(people, 20, plain)).toEqual([
      "NAME            BORN",
      "Ada             1815",
      "Grace Brewste…  1906",
    ]);
    expect(table(people, 5, plain)).toEqual(["NAME    BORN", "Ada     1815", "Grace…  1906"]);
  });

  it("has its titles when it has no rows", () => {
    expect(table([{ title: "NAME", cells: [] }], 80, plain)).toEqual(["NAME"]);
  });
});

describe("the table of executions", () => {
  const header: ExecutionHeader = {
    key: 1,
    id: "0199f0c2-8b1e-7c3a-9d7e-0123456789ab",
    flowId: "a-flow-with-quite-a-long-name-of-its-own",
    flowVersion: "2026.11.30-rc1",
    status: "setAside",
    sequence: 3,
    createdAt: 0,
    updatedAt: 0,
    aside: { code: "FLOW_UNKNOWN", message: `no flow is registered ${"and so on ".repeat(20)}` },
  };
  const rows = [{ header, sequence: 25_000, updatedAt: 60_000 }];

  it.each([60, 80, 100, 120, 200])("fits %i columns", (width) => {
    const lines = executionsTable(rows, { colors: plain, width, now: 120_000 });
    for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(width);
    expect(lines[1]).toMatch(/set aside +25000 +2m +1m/);
    expect(lines[2]).toContain("  FLOW_UNKNOWN: no flow");
    expect(lines[0]!.includes("STARTED")).toBe(width >= 110);
  });

  it("cuts nothing where nobody looks at columns", () => {
    const text = executionsTable(rows, { colors: plain, width: undefined, now: 0 }).join("\n");
    expect(text).toContain(header.id);
    expect(text).toContain(`${header.flowId}@${header.flowVersion}`);
    expect(text).toContain(header.aside!.message);
  });
});
