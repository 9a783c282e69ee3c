// Goal: what was left in doubt is found, and decided without the application; the application then goes on from there. Where
// it runs, nothing is changed.
// Method: the built command on directories that a real runtime wrote, and a real runtime afterwards.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { heddle, jsonLines } from "./heddle.js";
import {
  openApp,
  pathsIn,
  paymentFlow,
  short,
  temporaryLog,
  type WrittenLog,
  writeInDoubt,
  writeTours,
} from "./written-log.js";

let log: WrittenLog;
let dir: string;
beforeEach(() => {
  log = temporaryLog();
  ({ dir } = log);
});
afterEach(() => log.remove());

/** The application opens the directory again, and its effects work this time. */
async function goOn(id: string, steps: readonly string[] = ["pay"]) {
  const ran: string[] = [];
  const flow = paymentFlow((stepId, attempt) => {
    ran.push(stepId);
    return `paid in attempt ${attempt}`;
  });
  const app = openApp(dir, [flow]);
  const state = await app.runtime.handle(id).settled();
  const events = await app.stores.eventStore.read(id);
  await app.close();
  const types = events.map(({ type }) => type);
  return { state, output: state.variables["_output"], ran, types: types.slice(1 + steps.length) };
}

describe("heddle doubts", () => {
  it("lists what waits for a verdict, newest first, with what is needed to look into the world", async () => {
    await writeInDoubt(dir, "order-1");
    await writeTours(dir);
    await writeInDoubt(dir, "order-2", ["pay", "ship"]);
    const paths = pathsIn(dir);
    const { code, stdout, stderr } = await heddle("doubts", "--db", dir);
    expect(code).toBe(0);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual(["ID", "STEP", "TOOL", "ATTEMPT", "AGE", "SINCE (UTC)", "INPUT"]);
    expect(
      rows.slice(1).map(([id, step, tool, attempt, , , input]) => [id, step, tool, attempt, input]),
    ).toEqual([
      ["order-2", "pay", "pay", "1", "{ cents: 700 }"],
      ["order-2", "ship", "ship", "1", "{ cents: 700 }"],
      ["order-1", "pay", "pay", "1", "{ cents: 700 }"],
    ]);
    expect(stderr).toContain(`heddle resolve --db ${dir} ID STEP --outcome JSON`);
    expect(pathsIn(dir)).toEqual(paths);
  });

  it("prints them as JSON: the key under which the world may know the attempt, and since when", async () => {
    const before = Date.now();
    await writeInDoubt(dir, "order-1");
    const { stdout, stderr } = await heddle("doubts", "--db", dir, "--json");
    expect(stderr).toBe("");
    expect(jsonLines(stdout)).toEqual([
      {
        executionId: "order-1",
        stepId: "pay",
        toolId: "pay",
        attempt: 1,
        idempotencyKey: "order-1/pay",
        since: expect.toSatisfy((at: number) => at >= before && at <= Date.now()) as number,
        input: { cents: 700 },
      },
    ]);
  });

  it("can be narrowed", async () => {
    await writeInDoubt(dir, "order-1", ["pay", "ship"]);
    expect(jsonLines((await heddle("doubts", "--db", dir, "--json", "--flow", "tour")).stdout)).toEqual([]);
    const one = await heddle("doubts", "--db", dir, "--limit", "1");
    expect(one.stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(one.stderr).toContain("Only 1 of them");
  });

  it("says when there is nothing", async () => {
    await writeTours(dir);
    expect(await heddle("doubts", "--db", dir)).toEqual({
      code: 0,
      stdout: "",
      stderr: "Nothing is in doubt.\n",
    });
  });
});

describe("heddle resolve", () => {
  const goesOn =
    "Recorded. The execution goes on from there when its application opens the directory next.\n";

  it("--outcome completes the step with what somebody found out; its effect does not run", async () => {
    await writeInDoubt(dir, "order-1");
    const end = await heddle("resolve", "--db", dir, "order-1", "pay", "--outcome", '{"receipt":"r-1"}');
    expect(end).toEqual({
      code: 0,
      stdout: "order-1  pay  has completed\n",
      stderr: `${goesOn}Not checked: whether the outcome fits the step's outputSchema, which the flow's code alone knows; nor is anything sealed that it marks.\n`,
    });
    expect((await heddle("doubts", "--db", dir)).stderr).toBe("Nothing is in doubt.\n");
    expect(await goOn("order-1")).toMatchObject({
      output: [{ receipt: "r-1" }],
      ran: [],
      types: ["EFFECT_INDOUBT", "STEP_COMPLETED", "EXECUTION_COMPLETED"],
    });
  });

  it("--fail fails the step, and the flow may catch it", async () => {
    await writeInDoubt(dir, "order-1");
    const end = await heddle("resolve", "--db", dir, "order-1", "pay", "--fail", "never arrived");
    expect(end).toEqual({ code: 0, stdout: "order-1  pay  has failed\n", stderr: goesOn });
    const { state, ...rest } = await goOn("order-1");
    expect(rest).toEqual({
      output: ["Error: never arrived"],
      ran: [],
      types: ["EFFECT_INDOUBT", "STEP_FAILED", "EXECUTION_COMPLETED"],
    });
    expect(state.frames["pay"]).toMatchObject({ status: "failed", error: { message: "never arrived" } });
  });

  it("--retry runs it again, once, and it is not in doubt for that", async () => {
    await writeInDoubt(dir, "order-1");
    const end = await heddle("resolve", "--db", dir, "order-1", "pay", "--retry");
    expect(end).toEqual({ code: 0, stdout: "order-1  pay  runs again, in attempt 2\n", stderr: goesOn });
    expect(await goOn("order-1")).toMatchObject({
      output: ["paid in attempt 2"],
      ran: ["pay"],
      types: ["EFFECT_INDOUBT", "STEP_RETRIED", "STEP_COMPLETED", "EXECUTION_COMPLETED"],
    });
  });

  it("prints JSON, and decides one of several while the others wait", async () => {
    await writeInDoubt(dir, "order-1", ["pay", "ship"]);
    const { stdout, stderr } = await heddle(
      "resolve",
      "--db",
      dir,
      "order-1",
      "ship",
      "--outcome",
      "null",
      "--json",
    );
    expect(jsonLines(stdout)).toEqual([
      { executionId: "order-1", stepId: "ship", verdict: "outcome", sequence: 5 },
    ]);
    expect(stderr).toBe("");
    const { state, ran } = await goOn("order-1", ["pay", "ship"]);
    expect(state).toMatchObject({
      status: "suspended",
      frames: { pay: { status: "inDoubt" }, ship: { output: null } },
    });
    expect(ran).toEqual([]);
    expect(jsonLines((await heddle("doubts", "--db", dir, "--json")).stdout)).toMatchObject([
      { stepId: "pay" },
    ]);
  });

  it("finds the partition of the execution", async () => {
    await openApp(dir, [], 3).close();
    for (const id of ["order-1", "order-2", "order-3"]) {
      await writeInDoubt(dir, id);
      expect((await heddle("resolve", "--db", dir, id, "pay", "--outcome", "1")).code).toBe(0);
      expect((await goOn(id)).output).toEqual([1]);
    }
  });

  it("changes nothing where the application runs, and says which process it is and what to call there", async () => {
    await writeInDoubt(dir, "order-1");
    const owner = openApp(dir, [paymentFlow(() => "paid")]);
    await owner.start();
    const before = await owner.stores.eventStore.read("order-1");
    const { code, stdout, stderr } = await heddle(
      "resolve",
      "--db",
      dir,
      "order-1",
      "pay",
      "--outcome",
      '{"r":1}',
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`is owned by process ${process.pid} on `);
    expect(stderr).toContain("Nothing was changed. (PARTITION_LOCKED)");
    expect(stderr).toContain('  await app.runtime.resolveInDoubt("order-1", "pay", { outcome: {"r":1} })\n');
    expect(await owner.stores.eventStore.read("order-1")).toEqual(before);
    await owner.runtime.resolveInDoubt("order-1", "pay", { outcome: 2 });
    expect(await owner.runtime.handle("order-1").result()).toEqual([2]);
    await owner.close();
  });

  it("waits with an execution that stands aside, as the application would", async () => {
    await writeInDoubt(dir, "order-1");
    const other = openApp(dir, [short]);
    await expect(other.runtime.resolveInDoubt("order-1", "pay", { retry: true })).rejects.toMatchObject({
      code: "EXECUTION_SET_ASIDE",
    });
    await other.close();
    const { code, stderr } = await heddle("resolve", "--db", dir, "order-1", "pay", "--retry");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("is set aside (FLOW_UNKNOWN)") as string,
    });
  });
});

describe("a verdict that makes no sense", () => {
  beforeEach(() => writeInDoubt(dir, "order-1"));

  it.each<[string, readonly string[], number, string]>([
    [
      "an id that is nearly one",
      ["order-2", "pay", "--retry"],
      1,
      "Did you mean (EXECUTION_UNKNOWN)\n  order-1",
    ],
    [
      "the beginning of an id",
      ["order", "pay", "--retry"],
      1,
      "No execution has the id order. Did you mean (EXECUTION_UNKNOWN)\n  order-1",
    ],
    [
      "a step that is not there",
      ["order-1", "ship", "--retry"],
      1,
      "has no step ship. (STEP_NOT_IN_DOUBT)\nIn doubt are\n  pay",
    ],
    ["no verdict", ["order-1", "pay"], 2, "Give one of --outcome JSON"],
    ["two verdicts", ["order-1", "pay", "--retry", "--fail", "x"], 2, "cannot be used with"],
    ["what is no JSON", ["order-1", "pay", "--outcome", "{receipt}"], 2, "It is not JSON"],
    [
      "what JSON has no word for",
      ["order-1", "pay", "--outcome", '{"at":{"$date":"2026-01-01"}}'],
      2,
      "A key begins with $",
    ],
    ["no step", ["order-1"], 2, "missing required argument 'step'"],
  ])("%s", async (_what, args, code, words) => {
    const end = await heddle("resolve", "--db", dir, ...args);
    expect(end).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(words) as string });
    expect(jsonLines((await heddle("doubts", "--db", dir, "--json")).stdout)).toHaveLength(1);
  });

  it("is refused for a step that is decided, and for an execution that has ended", async () => {
    expect((await heddle("resolve", "--db", dir, "order-1", "pay", "--outcome", "1")).code).toBe(0);
    const again = await heddle("resolve", "--db", dir, "order-1", "pay", "--outcome", "2");
    expect(again.stderr).toContain("Step pay of order-1 has completed. (STEP_NOT_IN_DOUBT)");
    expect((await goOn("order-1")).output).toEqual([1]);
    const late = await heddle("resolve", "--db", dir, "order-1", "pay", "--retry");
    expect(late.stderr).toContain("has ended (completed): nothing of it is in doubt. (EXECUTION_ENDED)");
  });

  it("is refused where there is no log, and none is made", async () => {
    const { code, stderr } = await heddle("resolve", "--db", `${dir}-none`, "order-1", "pay", "--retry");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("(DIRECTORY_UNKNOWN)") as string,
    });
  });
});
