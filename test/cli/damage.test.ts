// Goal: a damaged record or header takes away what is in it and nothing else, and is named.

import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LogInspector } from "../../src/kernel/store/lmdb/log-inspector.js";
import { RawLog } from "../lifecycle/raw-log.js";
import { heddle, jsonLines } from "./heddle.js";
import { temporaryLog, writeTours } from "./written-log.js";

const log = temporaryLog();
const { dir } = log;
let beginnings: number[];
const complaint: unknown = expect.stringContaining("cannot be decoded");

beforeAll(async () => {
  await writeTours(dir);
  beginnings = await recordsOf("tour-done");
  const raw = new RawLog(dir);
  // The third record, and the last.
  await raw.changeRecord("tour-done", beginnings[2]!, (bytes) => bytes.subarray(0, bytes.length - 3));
  await raw.changeRecord("tour-done", beginnings.at(-1)!, () => Buffer.from("no record"));
  await raw.changeHeader("tour-failed", () => Buffer.from("no header"));
  await raw.close();
});
afterAll(log.remove);

/** Where the records of an execution begin. */
async function recordsOf(id: string): Promise<number[]> {
  const inspector = new LogInspector(dir);
  const sequences = inspector.records(inspector.find(id)!, 0, 100).map(({ sequence }) => sequence);
  await nextTurn(); // The reader is closed by then, and the directory free for whoever writes.
  return sequences;
}

describe("a damaged record", () => {
  it("is named in its place, with the events it hides, and the others are shown", async () => {
    const { code, stdout } = await heddle("logs", "--db", dir, "tour-done");
    const [first, , third, fourth] = beginnings as [number, number, number, number];
    const last = beginnings.at(-1)!;
    expect(code).toBe(1);
    const hidden = fourth - 1 === third ? `${third}` : `${third} to ${fourth - 1}`;
    expect(stdout).toContain(`UNREADABLE ${hidden}: A record of`);
    expect(stdout).toContain(`UNREADABLE from ${last} on: A record of`);
    const shown = stdout.match(/^ *\d+ (?= \d\d:)/gm)!.map(Number);
    const readable = Array.from({ length: last }, (_, sequence) => sequence);
    expect(first).toBe(0);
    expect(shown).toEqual(readable.filter((sequence) => sequence < third || sequence >= fourth));
  });

  it("is an object of its own in JSON", async () => {
    const { code, stdout, stderr } = await heddle("logs", "--db", dir, "tour-done", "--json");
    expect(code).toBe(1);
    expect(stderr).toContain("UNREADABLE");
    const unreadable = jsonLines(stdout).filter((line) => "unreadable" in line);
    expect(unreadable).toEqual([
      {
        executionId: "tour-done",
        sequence: beginnings[2],
        lastSequence: beginnings[3]! - 1,
        unreadable: complaint,
      },
      {
        executionId: "tour-done",
        sequence: beginnings.at(-1),
        unreadable: complaint,
      },
    ]);
  });

  it("ends the fold before it: no state with a gap in its past", async () => {
    const { code, stdout, stderr } = await heddle("debug", "--db", dir, "tour-done");
    const before = beginnings[2]! - 1;
    expect(code).toBe(1);
    expect(stdout).toContain(`running at sequence ${before} of ${String(beginnings.at(-1))}`);
    expect(stderr).toContain("UNREADABLE");
    expect(stderr).toContain(`This is the state at ${before}`);
    expect((await heddle("debug", "--db", dir, "tour-done", "--at", String(before))).code).toBe(0);
  });
});

describe("a damaged header", () => {
  it("leaves the rest of the list", async () => {
    const { code, stdout, stderr } = await heddle("ls", "--db", dir, "--json");
    expect(code).toBe(1);
    expect(jsonLines(stdout).map(({ id }) => id)).toEqual(["tour-waiting", "tour-cancelled", "tour-done"]);
    expect(stderr).toMatch(/^UNREADABLE header of tour-failed: A record of 9 bytes cannot be decoded/);
  });

  it("leaves the events of its execution", async () => {
    const { code, stdout, stderr } = await heddle("logs", "--db", dir, "tour-failed");
    expect(code).toBe(0);
    expect(stdout).toContain("EXECUTION_FAILED");
    expect(stderr).toContain("The header of tour-failed cannot be read");
  });
});
