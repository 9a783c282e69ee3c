// Goal: reading a directory beside the process that owns it disturbs nobody, and shows what that process writes.
// Method: the owner is a process of its own, driven by messages; readers are the built command; no clock is waited for.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { heddle, jsonLines, startHeddle } from "./heddle.js";
import { LiveWriter } from "./live-writer.js";
import { openApp, pathsIn, temporaryLog, tour, type WrittenLog, writeSetAside } from "./written-log.js";

let log: WrittenLog;
let writer: LiveWriter;

beforeEach(async () => {
  log = temporaryLog();
  writer = await LiveWriter.start(log.dir);
});
afterEach(() => {
  writer.kill();
  log.remove();
});

describe("beside a running process", () => {
  it("reads while it writes, and neither notices the other", async () => {
    await writer.ask({ start: "order-1" });
    const paths = pathsIn(log.dir);
    const writing = writer.ask({ write: 400 });
    const sequences: number[] = [];
    let isWriting = true;
    void writing.finally(() => {
      isWriting = false;
    });
    do {
      const [list, timeline, state] = await Promise.all([
        heddle("ls", "--db", log.dir, "--json", "--limit", "100000"),
        heddle("logs", "--db", log.dir, "order-1", "--json"),
        heddle("debug", "--db", log.dir, "order-1", "--json"),
      ]);
      for (const { code, stderr } of [list, timeline, state])
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      sequences.push(jsonLines(list.stdout).length);
      expect(jsonLines(state.stdout)).toMatchObject([{ status: "suspended", sequence: 3 }]);
    } while (isWriting);
    expect(await writing).toEqual([]);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    expect(pathsIn(log.dir)).toEqual(paths);
    expect(await writer.close()).toBe(0);

    // The directory is free, whole, and opens at once.
    const app = openApp(log.dir, []);
    await app.start();
    expect(await app.runtime.list({ status: "completed", limit: 1000 })).toHaveLength(400);
    await app.close();
  });

  it("survives readers that are killed in the middle", async () => {
    await writer.ask({ start: "order-1" });
    for (let i = 0; i < 5; i++) {
      const reader = startHeddle(["logs", "--db", log.dir, "order-1", "--follow"]);
      await reader.shows("EXECUTION_SUSPENDED");
      reader.kill("SIGKILL");
      await reader.ended;
      expect(await writer.ask({ write: 5 })).toEqual([]);
    }
    expect(await writer.ask({ resume: "order-1" })).toEqual([]);
    expect(await writer.close()).toBe(0);
  });

  it("reads what a killed process left", async () => {
    await writer.ask({ start: "order-1" });
    writer.kill();
    const { code, stdout } = await heddle("logs", "--db", log.dir, "order-1");
    expect(code).toBe(0);
    expect(stdout).toContain("waits for Go");
  });
});

describe("heddle logs --follow", () => {
  it("shows what comes later, each event once, and ends with the execution", async () => {
    await writer.ask({ start: "order-1" });
    const follower = startHeddle(["logs", "--db", log.dir, "order-1", "--follow", "--json"]);
    await follower.shows("EXECUTION_SUSPENDED");
    expect(follower.stdout).not.toContain("EXECUTION_RESUMED");
    await writer.ask({ resume: "order-1" });
    const { code, stdout, stderr } = await follower.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(jsonLines(stdout).map(({ sequence, type }) => [sequence, type])).toEqual([
      [0, "EXECUTION_STARTED"],
      [1, "STEP_STARTED"],
      [2, "STEP_COMPLETED"],
      [3, "EXECUTION_SUSPENDED"],
      [4, "Go"],
      [5, "EXECUTION_RESUMED"],
      [6, "STEP_STARTED"],
      [7, "STEP_COMPLETED"],
      [8, "EXECUTION_COMPLETED"],
    ]);
  });

  it("ends at once when the execution has ended", async () => {
    await writer.ask({ start: "order-1" });
    await writer.ask({ resume: "order-1" });
    const { code, stdout } = await heddle("logs", "--db", log.dir, "order-1", "--follow");
    expect(code).toBe(0);
    expect(stdout).toContain("EXECUTION_COMPLETED");
  });

  it("begins where --from says, also when that is yet to come, and ends with --to", async () => {
    await writer.ask({ start: "order-1" });
    const follower = startHeddle([
      "logs",
      "--db",
      log.dir,
      "order-1",
      "-f",
      "--json",
      "--from",
      "5",
      "--to",
      "7",
    ]);
    const whole = startHeddle(["logs", "--db", log.dir, "order-1", "-f", "--json"]);
    await whole.shows("EXECUTION_SUSPENDED");
    await writer.ask({ resume: "order-1" });
    const { code, stdout } = await follower.ended;
    await whole.ended;
    expect(code).toBe(0);
    expect(jsonLines(stdout).map(({ sequence }) => sequence)).toEqual([5, 6, 7]);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("ends with %s (Ctrl-C is the first), in order", async (signal, code) => {
    await writer.ask({ start: "order-1" });
    const follower = startHeddle(["logs", "--db", log.dir, "order-1", "--follow"]);
    await follower.shows("EXECUTION_SUSPENDED");
    follower.kill(signal);
    expect(await follower.ended).toMatchObject({ code, stderr: "" });
    expect(await writer.ask({ resume: "order-1" })).toEqual([]);
  });
});

describe("an execution that is set aside", () => {
  it("is followed with a word on why nothing comes", async () => {
    const aside = temporaryLog();
    await writeSetAside(aside.dir, "stranded");
    const follower = startHeddle(["logs", "--db", aside.dir, "stranded", "--follow"]);
    await follower.notes("Set aside, waiting for a repair: FLOW_UNKNOWN");
    // The repair: a process that knows the flow takes it up again.
    const app = openApp(aside.dir, [tour]);
    await app.runtime.resume("stranded", { eventType: "Approval", payload: "yes" });
    const { code, stdout } = await follower.ended;
    await app.close();
    aside.remove();
    expect(code).toBe(0);
    expect(stdout).toContain("EXECUTION_COMPLETED");
  });
});

describe("a reader of the output that has seen enough", () => {
  it("ends the command quietly", async () => {
    const app = temporaryLog();
    const big = openApp(app.dir, [tour]);
    await big.runtime.start(tour, { text: "x".repeat(4_000_000) }, { executionId: "big" });
    await big.close();
    const reader = startHeddle(["logs", "--db", app.dir, "big", "--full"]);
    await reader.shows("EXECUTION_STARTED");
    reader.closeStdout();
    expect(await reader.ended).toMatchObject({ code: 0, stderr: "" });
    app.remove();
  });
});
