// Goal: `heddle tune` as a user runs it: the built command, real threads, real effects. What it measures depends on the
// machine; what it makes of that does not, and is tested with made-up measurements beside this file.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { Measurement } from "../../src/cli/tune/measurement.js";
import type { PoolAdvice } from "../../src/cli/tune/recommendation.js";
import { type CommandEnd, jsonLines, type RunningCommand, startHeddle } from "./heddle.js";

const MODULE = fileURLToPath(new URL("./programs/tuned.mjs", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "heddle-tune-"));
const empty = file("empty.json", "{}");

// They measure, and take the time that takes.
vi.setConfig({ testTimeout: 60_000 });

const started: RunningCommand[] = [];
afterAll(() => {
  // Those of tests that ran out of time.
  for (const command of started) command.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

function start(args: readonly string[], stdin?: string): RunningCommand {
  const command = startHeddle(["tune", ...args], {}, stdin);
  started.push(command);
  return command;
}

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

function startOn(effect: string, ...args: string[]): RunningCommand {
  const input = args.includes("--input") ? [] : ["--input", empty];
  return start(["--module", MODULE, "--effect", effect, ...input, ...args]);
}

/** On the inputs in a JSON array, which come over stdin. */
function startOnEach(effect: string, json: string): RunningCommand {
  return start(["--module", MODULE, "--effect", effect, "--input", "-", "--each", "--yes"], json);
}

const tune = (effect: string, ...args: string[]): Promise<CommandEnd> => startOn(effect, ...args).ended;

interface Tuned {
  readonly effect: { readonly kind: string; readonly heldShare: number };
  readonly recommendation: PoolAdvice;
  readonly measured: readonly Measurement[];
  readonly reason: string;
  readonly notes: readonly string[];
}

async function tuned(effect: string, ...args: string[]): Promise<Tuned> {
  const { code, stdout, stderr } = await tune(effect, "--json", "--yes", ...args);
  expect(stderr).not.toContain("error");
  expect(code).toBe(0);
  const [line, ...more] = jsonLines(stdout);
  expect(more).toEqual([]);
  return line as unknown as Tuned;
}

describe("an effect", () => {
  it("that computes for 5 ms is CPU-bound: few calls a thread", async () => {
    const { effect, recommendation, measured } = await tuned("compute", "--calls", "40");
    expect(effect.kind).toBe("cpu");
    expect(recommendation.callsPerThread).toBeLessThanOrEqual(4);
    expect(recommendation.packet).toEqual({ maxCalls: 64, maxDelayMs: 0 });
    const [alone] = measured;
    expect(alone?.heldMs).toBeGreaterThan(4.5);
    expect(alone?.throughput).toBeLessThan(200);
    expect(alone?.utilization).toBeGreaterThan(0.8);
    expect(alone?.loopDelayMs.max).toBeGreaterThan(0);
  });

  it("that waits for 20 ms is IO-bound: many calls on a thread", async () => {
    const { effect, recommendation, measured } = await tuned("wait", "--calls", "60");
    expect(effect.kind).toBe("io");
    expect(recommendation).toMatchObject({ maxThreads: 1, callsPerThread: 16 });
    const [alone, , sixteen] = measured;
    expect(alone?.latencyMs.p50).toBeGreaterThan(19);
    expect(sixteen?.throughput).toBeGreaterThan(4 * (alone?.throughput ?? 0));
  });

  it("that does both is mixed", async () => {
    const { effect, recommendation } = await tuned("both", "--calls", "100");
    expect(effect.kind).toBe("mixed");
    expect(recommendation.callsPerThread).toBeGreaterThan(1);
  });

  it("that waits without letting its thread go is said to", async () => {
    const { effect, reason } = await tuned("block", "--calls", "20", "--max-threads", "1");
    expect(effect).toMatchObject({ kind: "io", isBlocking: true });
    expect(reason).toContain("only threads help");
  });

  it("that fails when much is asked of it is recommended less, and not asked for long", async () => {
    const { recommendation, measured, notes } = await tuned(
      "limited",
      "--calls",
      "200",
      "--max-threads",
      "1",
    );
    expect(recommendation.callsPerThread).toBe(4);
    expect(measured.map(({ setting }) => setting.callsPerThread)).toEqual([1, 4, 16]);
    const { completed = 0, failed = 0 } = measured.at(-1) ?? {};
    expect(failed).toBeGreaterThan(0);
    expect(completed + failed).toBeLessThan(150);
    expect(notes.join()).toContain("429 too many requests");
  });

  it("that prints does so beside the results", async () => {
    const { code, stdout, stderr } = await tune("noisy", "--calls", "20", "--json", "--yes");
    expect(code).toBe(0);
    expect(stderr).toContain("noise\n");
    expect(jsonLines(stdout)).toHaveLength(1);
  });

  it("that would not run in the pool is measured, with a word about that", async () => {
    const { code, stderr } = await tune("inline", "--calls", "4", "--yes");
    expect(code).toBe(0);
    expect(stderr).toContain('It says placement: "inline"');
  });
});

describe("what is printed", () => {
  it("is a table, bars and settings on stdout, progress on stderr, and curves in a file", async () => {
    const out = join(directory, "wait.svg");
    const args = ["--calls", "40", "--max-threads", "1", "--max-calls-per-thread", "4"];
    const { code, stdout, stderr } = await tune("wait", "--yes", "--out", out, ...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^THREADS +CALLS EACH +CALLS\/S +P50 +P99 +BUSY +LOOP P99 +CALLS +FAILED\n/);
    expect(stdout).toMatch(/\n1 thread +1 call +█.*\n +4 calls +█/);
    expect(stdout).toContain("wait is IO-bound. A call keeps its thread for");
    expect(stdout).toContain(
      "maxThreads: 1,\n    callsPerThread: 4,\n    packet: { maxCalls: 64, maxDelayMs: 0 },",
    );
    expect(stderr).toContain("[1 of at most 5] 1 thread, 1 call each ...\n");
    expect(stderr).toMatch(/\[2 of at most 5\] 1 thread, 4 calls each: [\d,]+\/s, p50 /);
    expect(readFileSync(out, "utf8")).toMatch(/^<svg [^]*<title>wait<\/title>[^]*<\/svg>\n$/);
  });
});

describe("what is called", () => {
  it("is no more than was announced, each time under a key of its own, with the inputs in turn", async () => {
    const mark = join(directory, "marks");
    const inputs = file("three.json", JSON.stringify(["a", "b", "c"].map((name) => ({ mark, name }))));
    const args = ["--input", inputs, "--each", "--calls", "30", "--max-threads", "2", "--yes"];
    const { code, stderr } = await tune("marking", ...args);
    expect(code).toBe(0);
    const announced = Number(/^([\d,]+) times at the most/m.exec(stderr)?.[1]?.replaceAll(",", ""));
    const marks = readFileSync(mark, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
    expect(marks.length).toBeGreaterThan(60);
    expect(marks.length).toBeLessThanOrEqual(announced);
    expect(new Set(marks.map(([, key]) => key)).size).toBe(marks.length);
    const times = ["a", "b", "c"].map((name) => marks.filter(([each]) => each === name).length);
    expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(1);
  });

  it("is nothing, unless somebody agreed", async () => {
    const mark = join(directory, "unmarked");
    const input = file("unmarked.json", JSON.stringify({ mark, name: "a" }));
    const { code, stdout, stderr } = await tune("marking", "--input", input);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("This really calls marking of");
    expect(stderr).toContain("error: There is nobody to ask whether that is fine: add --yes to say so.");
    expect(existsSync(mark)).toBe(false);
  });
});

describe("Ctrl-C", () => {
  it("ends the setting under way, and prints what was measured before", async () => {
    const running = startOn("wait", "--seconds", "0.3", "--max-threads", "2", "--yes");
    await running.notes("[2 of at most 13]");
    running.kill("SIGINT");
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    expect(stdout).toMatch(/^THREADS/);
    expect(stdout).toContain("This is from what was measured before it was interrupted");
    expect(stdout).toContain("callsPerThread: 1,");
  });

  it("ends a call that never would", async () => {
    const running = startOn("stuck", "--yes", "--json");
    await running.notes("Calling it alone first");
    running.kill("SIGTERM");
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(143);
    expect(jsonLines(stdout)).toMatchObject([{ measured: [], recommendation: null, isCutShort: true }]);
    expect(stderr).toContain("It was interrupted before anything was measured.");
  });
});

describe("what cannot be done", () => {
  const bad = file("bad.mjs", "export const effects = {");
  const none = file("none.mjs", "export const other = 1;");
  const notOne = file("not-one.mjs", "export const effects = { a: 1 };");
  const noJson = file("no.json", "{ a: 1 }");

  async function refused(running: RunningCommand): Promise<{ code: number | null; words: string }> {
    const { code, stdout, stderr } = await running.ended;
    expect(stdout).toBe("");
    return { code, words: stderr.replaceAll(directory, "<dir>").replaceAll(MODULE, "<module>") };
  }

  const asked = ["--effect", "wait", "--input", empty, "--yes"];

  it("a module there is not", async () => {
    expect(await refused(start(["--module", join(directory, "gone.mjs"), ...asked]))).toEqual({
      code: 1,
      words: "error: There is no file <dir>/gone.mjs for --module. (CONFIG_INVALID)\n",
    });
  });

  it.each([
    ["that does not parse", bad, "--module <dir>/bad.mjs cannot be loaded: Unexpected end of input"],
    ["without effects", none, "--module <dir>/none.mjs does not export `effects`"],
    ["with something else among them", notOne, "exports effects.a, which is no effect"],
  ])("a module %s", async (_name, module, complaint) => {
    const { code, words } = await refused(start(["--module", module, ...asked]));
    expect(code).toBe(1);
    expect(words).toContain(complaint);
    expect(words).toContain("(CONFIG_INVALID)\n");
  });

  it("an effect there is not: those there are, the nearest first", async () => {
    const { code, words } = await refused(startOn("computer", "--yes"));
    expect(code).toBe(1);
    expect(words).toContain(
      "error: <module> exports no effect computer. (EFFECT_UNKNOWN)\nDid you mean compute?\n",
    );
    expect(words).toContain("It exports, the nearest first:\n  compute\n");
    expect(words).toContain("\n  trivial\n");
  });

  it.each([
    ["there is not", join(directory, "gone.json"), "There is no file <dir>/gone.json. (INPUT_INVALID)"],
    ["that is a directory", directory, "<dir> cannot be read:"],
    ["that is no JSON", noJson, "What <dir>/no.json holds is no JSON:"],
  ])("an input %s", async (_name, input, complaint) => {
    const { code, words } = await refused(startOn("wait", "--input", input, "--yes"));
    expect(code).toBe(1);
    expect(words).toContain(complaint);
    expect(words).toContain("(INPUT_INVALID)");
  });

  it.each([
    ["{}", "stdin holds no array"],
    ["[]", "stdin holds an empty array"],
  ])("inputs for --each that are %s", async (json, complaint) => {
    const { code, words } = await refused(startOnEach("wait", json));
    expect(code).toBe(1);
    expect(words).toContain(`--each takes the inputs from an array, and ${complaint}. (INPUT_INVALID)`);
  });

  it("an effect that fails on the input: after one call, with its own code", async () => {
    const { code, words } = await refused(startOn("failing", "--yes"));
    expect(code).toBe(1);
    expect(words).toContain(
      "error: Effect failing fails on the input: HeddleError: the picture is no picture (INPUT_INVALID)\n" +
        "It was called for this, and nothing was measured.\n",
    );
  });

  it("an effect that fails on one of the inputs: which one", async () => {
    const json = JSON.stringify([{ isGood: true }, { isGood: false }, { isGood: true }]);
    const { code, words } = await refused(startOnEach("picky", json));
    expect(code).toBe(1);
    expect(words).toContain("Effect picky fails on input 2 of 3: RangeError: not this one");
  });

  it("an effect that takes its thread down", async () => {
    const { code, words } = await refused(startOn("exiting", "--yes"));
    expect(code).toBe(1);
    expect(words).toContain("was ended by process.exit, with code 3");
    expect(words).toContain("(EFFECT_WORKER_LOST)");
  });

  it("curves into a directory there is not: before anything is called", async () => {
    const out = join(directory, "gone", "x.svg");
    expect(await refused(startOn("wait", "--yes", "--out", out))).toEqual({
      code: 1,
      words: "error: There is no directory <dir>/gone to write --out to.\n",
    });
  });

  it("curves into what is no file: the rest is printed all the same", async () => {
    const { code, stdout, stderr } = await tune("trivial", "--calls", "2", "--yes", "--out", directory);
    expect(code).toBe(1);
    expect(stdout).toContain("THREADS");
    expect(stderr).toContain(`error: --out ${directory} cannot be written: `);
  });

  it.each([
    ["no module", ["--effect", "a", "--input", "-"], "required option '--module <file>' not specified"],
    ["calls and seconds", ["--calls", "1", "--seconds", "1"], "cannot be used with option"],
    ["no time at all", ["--seconds", "0"], "It must be a number above 0, and no more than 3600."],
    ["threads beyond reason", ["--max-threads", "5000"], "It must be no more than 1024."],
  ])("a command line with %s", async (_name, args, complaint) => {
    const rest = args.includes("--effect") ? [] : ["--module", MODULE, ...asked];
    const { code, words } = await refused(start([...rest, ...args]));
    expect(code).toBe(2);
    expect(words).toContain(complaint);
  });
});
