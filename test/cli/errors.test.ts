// Goal: whatever is asked for in vain, the answer is one clear text on stderr and an exit code: 2 when the command line
// makes no sense, 1 when it does and cannot be done. Nothing on stdout, nothing made.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { heddle } from "./heddle.js";
import { openApp, pathsIn, short, temporaryLog, writeTours } from "./written-log.js";

const log = temporaryLog();
const { dir } = log;
const elsewhere = mkdtempSync(join(tmpdir(), "heddle-cli-"));

beforeAll(() => writeTours(dir));
afterAll(() => {
  log.remove();
  rmSync(elsewhere, { recursive: true, force: true });
});

async function refused(...args: string[]): Promise<{ code: number | null; words: string }> {
  const { code, stdout, stderr } = await heddle(...args);
  expect(stdout).toBe("");
  return { code, words: stderr.replaceAll(elsewhere, "<elsewhere>").replaceAll(dir, "<dir>") };
}

describe("a directory that is no log", () => {
  const commands = [
    ["ls", []],
    ["logs", ["x"]],
    ["debug", ["x"]],
  ] as const;

  it.each(commands)("%s: there is none, and none is made", async (command, rest) => {
    expect(await refused(command, "--db", join(elsewhere, "none"), ...rest)).toEqual({
      code: 1,
      words:
        "error: There is no directory <elsewhere>/none. (DIRECTORY_UNKNOWN)\n" +
        "Give --db the directory that lmdbStorage({ dir }) has.\n",
    });
    expect(pathsIn(elsewhere)).not.toContain("none");
  });

  it("is empty, and stays so", async () => {
    const empty = join(elsewhere, "empty");
    mkdirSync(empty);
    const { code, words } = await refused("ls", "--db", empty);
    expect(code).toBe(1);
    expect(words).toContain("<elsewhere>/empty is not the directory of a heddle log: it has no heddle.json.");
    expect(pathsIn(empty)).toEqual([]);
  });

  it("is a file", async () => {
    writeFileSync(join(elsewhere, "file"), "");
    const { code, words } = await refused("ls", "--db", join(elsewhere, "file"));
    expect(code).toBe(1);
    expect(words).toContain("<elsewhere>/file is a file, not the directory");
  });

  it("is one level off: the right one is named", async () => {
    const project = join(elsewhere, "project");
    const app = openApp(join(project, "data"), [short]);
    await app.start();
    await app.close();
    for (const wrong of [project, join(project, "data", "p000")]) {
      const { code, words } = await refused("ls", "--db", wrong);
      expect(code).toBe(1);
      expect(words).toContain("Did you mean\n  --db <elsewhere>/project/data\n");
    }
  });

  it.each([
    [
      "of a newer format",
      { format: 2, partitions: 1, createdBy: "heddle 9.9.9" },
      /has format 2 .* Install a newer heddle/,
    ],
    ["without a format", { partitions: 1 }, /holds no format number/],
  ])("is a directory %s", async (_name, content, words) => {
    const newer = mkdtempSync(join(elsewhere, "format-"));
    writeFileSync(join(newer, "heddle.json"), JSON.stringify(content));
    const answer = await refused("ls", "--db", newer);
    expect(answer.code).toBe(1);
    expect(answer.words).toMatch(words);
    expect(answer.words).toContain("(FORMAT_UNSUPPORTED)");
    expect(pathsIn(newer)).toEqual(["heddle.json"]);
  });

  it.each([
    ["no LMDB file", "this is no database".repeat(1000)],
    ["a file cut short", "short"],
  ])("holds a partition with %s", async (_name, content) => {
    const broken = mkdtempSync(join(elsewhere, "broken-"));
    writeFileSync(join(broken, "heddle.json"), JSON.stringify({ format: 1, partitions: 1 }));
    mkdirSync(join(broken, "p000"));
    writeFileSync(join(broken, "p000", "data.mdb"), content);
    const { code, words } = await refused("ls", "--db", broken);
    expect(code).toBe(1);
    expect(words).toContain("data.mdb is damaged or cut short, or is no LMDB file.");
    expect(words).toContain("(STORAGE_FAILED)");
    expect(pathsIn(broken)).toEqual(["heddle.json", "p000", "p000/data.mdb"]);
  });

  it("is just being made: it is a log without executions", async () => {
    const made = mkdtempSync(join(elsewhere, "made-"));
    writeFileSync(join(made, "heddle.json"), JSON.stringify({ format: 1, partitions: 2 }));
    mkdirSync(join(made, "p000"));
    writeFileSync(join(made, "p000", "data.mdb"), "");
    expect(await heddle("ls", "--db", made)).toEqual({ code: 0, stdout: "", stderr: "No executions.\n" });
    expect(pathsIn(made)).toEqual(["heddle.json", "p000", "p000/data.mdb"]);
  });
});

describe("an id nobody has", () => {
  it.each(["logs", "debug"])("%s: near ids are named", async (command) => {
    expect(await refused(command, "--db", dir, "tour-dome")).toEqual({
      code: 1,
      words: "error: No execution has the id tour-dome. Did you mean (EXECUTION_UNKNOWN)\n  tour-done\n",
    });
  });

  it("is far from all of them: the command that lists them is named", async () => {
    expect(await refused("logs", "--db", dir, "invoice-99")).toEqual({
      code: 1,
      words:
        "error: No execution has the id invoice-99. (EXECUTION_UNKNOWN)\nheddle ls --db <dir> lists those there are.\n",
    });
  });

  it("is the beginning of several", async () => {
    const { code, words } = await refused("logs", "--db", dir, "tour");
    expect(code).toBe(1);
    expect(words).toContain("Several executions have an id that begins with tour:");
    expect(words).toContain("\n  tour-cancelled\n  tour-done\n  tour-failed\n  tour-waiting\n");
  });

  it("is longer than any id, or steers the terminal", async () => {
    expect((await refused("logs", "--db", dir, "x".repeat(5000))).code).toBe(1);
    const { words } = await refused("logs", "--db", dir, "\u001b[2J");
    expect(words).toContain("\\x1b[2J");
  });

  it("is named as the end of a page", async () => {
    const { code, words } = await refused("ls", "--db", dir, "--after", "tour-dome");
    expect(code).toBe(1);
    expect(words).toContain("Did you mean");
  });
});

describe("a command line that makes no sense", () => {
  it.each([
    ["no directory", ["ls"], "required option '--db <dir>' not specified"],
    ["no id", ["logs", "--db", dir], "missing required argument 'id'"],
    ["too many ids", ["logs", "--db", dir, "a", "b"], "too many arguments"],
    ["a command there is not", ["lgos", "--db", dir], "Did you mean logs?"],
    ["an option there is not", ["ls", "--db", dir, "--stats", "failed"], "Did you mean --status?"],
    [
      "a status there is not",
      ["ls", "--db", dir, "--status", "done"],
      'There is no status "done". There are: running, suspended, completed, failed, cancelled, set-aside.',
    ],
    ["a limit of nothing", ["ls", "--db", dir, "--limit", "0"], "It must be a whole number from 1 on."],
    ["a position that is no number", ["debug", "--db", dir, "tour-done", "--at", "last"], "from 0 on"],
    ["a negative position", ["debug", "--db", dir, "tour-done", "--at", "-1"], "from 0 on"],
    ["half an event", ["logs", "--db", dir, "tour-done", "--from", "1.5"], "from 0 on"],
    [
      "an end before the beginning",
      ["logs", "--db", dir, "tour-done", "--from", "5", "--to", "4"],
      "--from 5 lies behind --to 4.",
    ],
  ])("%s", async (_name, args, words) => {
    const answer = await refused(...args);
    expect(answer.code).toBe(2);
    expect(answer.words).toContain(words.replaceAll(dir, "<dir>"));
  });
});
