// Goal: `heddle logs` shows every kind of event the log can hold, in words and as JSON, and leaves the directory as it
// was. Method: a real runtime writes a log with all of them; the built command reads it in a process of its own.

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { EVENT_KINDS, type EventType } from "../../src/kernel/events.js";
import { heddle, jsonLines } from "./heddle.js";
import {
  openApp,
  pathsIn,
  temporaryLog,
  tour,
  writeInDoubt,
  writeLate,
  writeOverBudget,
  writeSetAside,
  writeTours,
} from "./written-log.js";

const log = temporaryLog();
const { dir } = log;

beforeAll(() => writeTours(dir));
afterAll(log.remove);

/** The text without what differs from run to run. */
function timeless(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}/g, "<moment>")
    .replaceAll(/\d{4}-\d\d-\d\d UTC/g, "<day>")
    .replaceAll(/\d\d:\d\d:\d\d\.\d{3} +\+[\d.]+m?s/g, "<time>")
    .replaceAll(/value \d{13}/g, "value <ms>");
}

const publicNames: Partial<Record<EventType, string>> = {
  GATE_EVENT: "Approval",
  DOMAIN_EVENT: "Ordered",
  STREAM_DELTA: "Spoken",
  EFFECT_EVENT: "Echoed",
};

describe("heddle logs", () => {
  it("prints a line an event, in words", async () => {
    const { code, stdout, stderr } = await heddle("logs", "--db", dir, "tour-done");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(timeless(stdout)).toMatchInlineSnapshot(`
      "tour-done  tour@3  completed
      <day>
        0  <time>  EXECUTION_STARTED    tour@3  input { order: "tour-done" }
        1  <time>  SURFACE_PATCH        set title  value "hello"
        2  <time>  STEP_STARTED         echo  input { order: "tour-done" }
        3  <time>  Echoed               emitted by step echo  payload { attempt: 1 }
        4  <time>  STEP_COMPLETED       echo  output { order: "tour-done" }
        5  <time>  DECISION_RECORDED    route by rule  choice "left"  rationale { why: "it is nearer" }
        6  <time>  DECISION_FAILED      broken  error Error: no opinion
        7  <time>  Ordered              emitted by the flow  payload { id: 1 }
        8  <time>  Spoken               piece  text "some words"
        9  <time>  STEP_STARTED         flaky  input 1
       10  <time>  STEP_RETRIED         flaky attempt 2 at <moment>  after TypeError: no good
       11  <time>  STEP_FAILED          flaky  error TypeError: no good
       12  <time>  STEP_STARTED         quota  input 2
       13  <time>  STEP_FAILED          quota on channel spent  payload { left: 0 }
       14  <time>  VALUE_RECORDED       now  value <ms>
       15  <time>  EXECUTION_SUSPENDED  sleep#0 until <moment>
       16  <time>  TIMER_FIRED          sleep#0
       17  <time>  EXECUTION_RESUMED    sleep#0 by its timer
       18  <time>  EXECUTION_SUSPENDED  Nobody#0 waits for Nobody, at most until <moment>
       19  <time>  GATE_TIMED_OUT       Nobody#0, nobody sent Nobody in time
       20  <time>  EXECUTION_RESUMED    Nobody#0 by its timeout
       21  <time>  EXECUTION_SUSPENDED  Approval#0 waits for Approval [desk-7]
       22  <time>  Approval             resumes Approval#0  payload "yes"
       23  <time>  EXECUTION_RESUMED    Approval#0 by its event
       24  <time>  EXECUTION_COMPLETED  output { said: { order: "tour-done" }, approval: "yes" }
      "
    `);
  });

  it("gives the envelopes that the event store gives, with --json", async () => {
    const { code, stdout } = await heddle("logs", "--db", dir, "tour-done", "--json");
    const app = openApp(dir, [tour]);
    await app.start();
    const events = await app.stores.eventStore.read("tour-done");
    await app.close();
    const shown = jsonLines(stdout);
    expect(code).toBe(0);
    expect(shown.map(({ sequence, type, timestamp }) => [sequence, type, timestamp])).toEqual(
      events.map(({ sequence, type, timestamp }) => [sequence, type, timestamp]),
    );
    expect(shown[4]).toEqual(events[4]);
  });

  it("shows every kind of event there is (C-EFF-04)", async () => {
    const types = new Set<string>();
    const doubted = temporaryLog();
    onTestFinished(doubted.remove);
    await writeInDoubt(doubted.dir, "doubted");
    await writeOverBudget(doubted.dir, "spent");
    await writeLate(doubted.dir, "late");
    for (const [at, id] of [
      [dir, "tour-done"],
      [dir, "tour-failed"],
      [dir, "tour-cancelled"],
      [doubted.dir, "doubted"],
      [doubted.dir, "spent"],
      [doubted.dir, "late"],
    ] as const) {
      const { code, stdout } = await heddle("logs", "--db", at, id, "--json");
      expect(code).toBe(0);
      for (const { type } of jsonLines(stdout)) types.add(String(type));
    }
    const kinds = Object.keys(EVENT_KINDS) as EventType[];
    expect(types).toEqual(new Set(kinds.map((kind) => publicNames[kind] ?? kind)));
  });

  it("shows what attempts used, and the budget that was used up", async () => {
    const spent = temporaryLog();
    onTestFinished(spent.remove);
    await writeOverBudget(spent.dir, "spent");
    const { stdout } = await heddle("logs", "--db", spent.dir, "spent");
    expect(stdout).toMatch(/EFFECT_METERED +ask attempt 1 used \d+ ms\n/);
    expect(stdout).toMatch(/STEP_COMPLETED +ask \(used 12 tokens, cost 0\.5, \d+ ms\) /);
    expect(stdout).toMatch(/QUOTA_EXCEEDED +ask#1: tokens of the flow are 12 of 10\n/);
  });

  it("shows part of a log with --from and --to, offsets still counted from the start", async () => {
    const { stdout } = await heddle("logs", "--db", dir, "tour-done", "--from", "23", "--to", "24");
    expect(stdout.split("\n").filter((line) => /^ +\d+ /.test(line))).toEqual([
      expect.stringMatching(/^ 23 .* \+\d{2,}ms .*EXECUTION_RESUMED/),
      expect.stringMatching(/^ 24 .* \+\d{2,}ms .*EXECUTION_COMPLETED/),
    ]);
    // In the middle of a record: events of one pass share it.
    const middle = await heddle("logs", "--db", dir, "tour-done", "--json", "--from", "1", "--to", "1");
    expect(jsonLines(middle.stdout)).toMatchObject([{ sequence: 1, type: "SURFACE_PATCH" }]);
  });

  it("shows the wanted types, by the public name or by the kind, in any case", async () => {
    const typed = ["--type", "step_failed,Approval", "--type", "DOMAIN_EVENT"];
    const { stdout } = await heddle("logs", "--db", dir, "tour-done", "--json", ...typed);
    expect(jsonLines(stdout).map(({ type }) => type)).toEqual([
      "Ordered",
      "STEP_FAILED",
      "STEP_FAILED",
      "Approval",
    ]);
  });

  it("names the types there are when none is wanted", async () => {
    const { code, stdout, stderr } = await heddle(
      "logs",
      "--db",
      dir,
      "tour-done",
      "--json",
      "--type",
      "STEP_FAIL",
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("No event has this type. There are: Approval, DECISION_FAILED,");
  });

  it("names the range when nothing lies in the wanted one", async () => {
    const { code, stderr } = await heddle("logs", "--db", dir, "tour-done", "--from", "99");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "No events there: they have the sequences 0 to 24.\n",
    });
  });

  it("shows values whole with --full, and cut without", async () => {
    const long = temporaryLog();
    const app = openApp(long.dir, [tour]);
    await app.runtime.start(
      tour,
      { text: "x".repeat(500), deep: { a: { b: { c: { d: "found" } } } } },
      { executionId: "long" },
    );
    await app.close();
    const cut = await heddle("logs", "--db", long.dir, "long", "--to", "0");
    const full = await heddle("logs", "--db", long.dir, "long", "--to", "0", "--full");
    long.remove();
    expect(cut.stdout).toContain("x…");
    expect(Math.max(...cut.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(160);
    expect(full.stdout).toContain("x".repeat(500));
    expect(full.stdout).toContain("found");
  });

  it("takes the beginning of an id when only one begins so", async () => {
    const { code, stdout } = await heddle("logs", "--db", dir, "tour-d", "--json");
    expect(code).toBe(0);
    expect(jsonLines(stdout)[0]).toMatchObject({ executionId: "tour-done" });
  });

  it("says why an execution is set aside, and keeps showing its events", async () => {
    const aside = temporaryLog();
    await writeSetAside(aside.dir, "stranded");
    const { code, stdout } = await heddle("logs", "--db", aside.dir, "stranded");
    aside.remove();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^stranded {2}tour@3 {2}set aside\nFLOW_UNKNOWN: /);
    expect(stdout).toContain("waits for Approval [desk-7]");
  });

  it("has no colours where nobody looks", async () => {
    const { stdout } = await heddle("logs", "--db", dir, "tour-done");
    expect(stdout).not.toContain("\u001b");
  });

  it("makes and changes no file of the directory", async () => {
    const before = pathsIn(dir);
    await heddle("logs", "--db", dir, "tour-done");
    await heddle("debug", "--db", dir, "tour-done");
    await heddle("ls", "--db", dir);
    expect(pathsIn(dir)).toEqual(before);
  });
});
