// Goal: `heddle ls` lists every execution once, newest first over all partitions, page by page, filtered or not.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LmdbEventStore } from "../../src/kernel/store/lmdb/lmdb-event-store.js";
import { ScriptedExecution } from "../../src/testing/scripted-execution.js";
import { heddle, jsonLines } from "./heddle.js";
import { openApp, short, temporaryLog, tour, writeSetAside, writeTours } from "./written-log.js";

const anyNumber: unknown = expect.any(Number);
const log = temporaryLog();
const { dir } = log;

beforeAll(() => writeTours(dir));
afterAll(log.remove);

async function ids(...args: string[]): Promise<unknown[]> {
  const { code, stdout } = await heddle("ls", "--db", dir, "--json", ...args);
  expect(code).toBe(0);
  return jsonLines(stdout).map(({ id }) => id);
}

describe("heddle ls", () => {
  it("prints a table, newest first", async () => {
    const { code, stdout, stderr } = await heddle("ls", "--db", dir);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const timeless = stdout
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}/g, "<moment>")
      .replaceAll(/ (?:now|\d+[sm])(?= )/g, " <age>");
    expect(timeless.replaceAll(/ +/g, " ")).toMatchInlineSnapshot(`
      "ID FLOW STATUS SEQ AGE IDLE STARTED (UTC)
      tour-waiting tour@3 suspended 21 <age> <age> <moment>
      tour-cancelled tour@3 cancelled 23 <age> <age> <moment>
      tour-failed tour@3 failed 24 <age> <age> <moment>
      tour-done tour@3 completed 24 <age> <age> <moment>
      "
    `);
  });

  it("prints an object a line with --json, positions as the log has them", async () => {
    const { stdout } = await heddle("ls", "--db", dir, "--json");
    expect(jsonLines(stdout)[0]).toEqual({
      id: "tour-waiting",
      flowId: "tour",
      flowVersion: "3",
      status: "suspended",
      sequence: 21,
      createdAt: anyNumber,
      updatedAt: anyNumber,
    });
  });

  it("tells how far an execution is that has not changed its status since it started", async () => {
    const running = temporaryLog();
    const store = new LmdbEventStore({ dir: running.dir, now: Date.now, createdBy: "heddle test" });
    const partition = await store.open(0);
    const execution = new ScriptedExecution(0, "busy");
    await partition.commit({ executions: [execution.start()] });
    await partition.commit({ executions: [execution.advance(3)] });
    await store.close();
    const { stdout } = await heddle("ls", "--db", running.dir, "--json");
    running.remove();
    expect(execution.header.sequence).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([{ id: "busy", status: "running", sequence: 3 }]);
  });

  it("filters by status, several too, however they are spelt", async () => {
    expect(await ids("--status", "failed,cancelled")).toEqual(["tour-cancelled", "tour-failed"]);
    expect(await ids("--status", "FAILED", "--status", "suspended")).toEqual(["tour-waiting", "tour-failed"]);
    expect(await ids("--status", "set-aside")).toEqual([]);
  });

  it("filters by flow", async () => {
    expect(await ids("--flow", "tour")).toHaveLength(4);
    expect(await ids("--flow", "short")).toEqual([]);
  });

  it("goes on where a page ended with --after, and says how", async () => {
    const first = await heddle("ls", "--db", dir, "--limit", "3");
    expect(first.stderr).toContain("--after tour-failed");
    expect(await ids("--limit", "3")).toEqual(["tour-waiting", "tour-cancelled", "tour-failed"]);
    expect(await ids("--limit", "3", "--after", "tour-failed")).toEqual(["tour-done"]);
    expect(await ids("--after", "tour-done")).toEqual([]);
  });

  it("says why an execution is set aside", async () => {
    const aside = temporaryLog();
    await writeSetAside(aside.dir, "stranded");
    const table = await heddle("ls", "--db", aside.dir);
    const json = await heddle("ls", "--db", aside.dir, "--json", "--status", "setAside");
    aside.remove();
    expect(table.stdout).toMatch(/stranded +tour@3 +set aside .*\n {2}FLOW_UNKNOWN: /);
    expect(jsonLines(json.stdout)).toMatchObject([
      { id: "stranded", status: "setAside", aside: { code: "FLOW_UNKNOWN" } },
    ]);
  });

  it("says so when there are none", async () => {
    const empty = temporaryLog();
    const app = openApp(empty.dir, [tour]);
    await app.start();
    await app.close();
    const { code, stdout, stderr } = await heddle("ls", "--db", empty.dir);
    empty.remove();
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "No executions.\n" });
  });

  it("merges partitions by the time of starting, and pages through all of them once", async () => {
    const many = temporaryLog();
    const app = openApp(many.dir, [short], 3);
    const started: string[] = [];
    for (let i = 0; i < 600; i++) {
      const id = `v-${i}`;
      started.push(id);
      await (await app.runtime.start(short, i, { executionId: id })).result();
    }
    await app.close();
    const seen: string[] = [];
    const times: number[] = [];
    for (let after: string[] = []; ; after = ["--after", seen.at(-1)!]) {
      const { stdout } = await heddle("ls", "--db", many.dir, "--json", "--limit", "250", ...after);
      const page = jsonLines(stdout);
      if (page.length === 0) break;
      seen.push(...page.map(({ id }) => id as string));
      times.push(...page.map(({ createdAt }) => createdAt as number));
    }
    many.remove();
    expect(new Set(seen)).toEqual(new Set(started));
    expect(seen).toHaveLength(600);
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });
});
