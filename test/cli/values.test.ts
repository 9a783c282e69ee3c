// Goal: no value a log can keep stops the command line from showing it. Method: one execution with a step a value of the
// codec's table, which takes it in and gives it back, written by a real runtime; every command, in words, whole and as JSON.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommandEnd, heddle, jsonLines } from "./heddle.js";
import { openApp, temporaryLog, valuesFlow } from "./written-log.js";

const circular: Record<string, unknown> = { name: "circle" };
circular["self"] = circular;
const sharedPart = { once: true };
const sparse: unknown[] = [];
sparse[4_000_000_000] = "far";

const like = (part: object): unknown => expect.objectContaining(part);

/** A value of each kind, and the JSON it must come out as. */
const VALUES: readonly (readonly [name: string, value: unknown, json: unknown])[] = [
  ["undefined", undefined, { $undefined: true }],
  [
    "undefined-inside",
    { a: undefined, list: [undefined] },
    { a: { $undefined: true }, list: [{ $undefined: true }] },
  ],
  ["null", null, null],
  ["nan", Number.NaN, { $number: "NaN" }],
  ["infinity", [Infinity, -Infinity], [{ $number: "Infinity" }, { $number: "-Infinity" }]],
  ["negative-zero", -0, { $number: "-0" }],
  ["bigint", 2n ** 200n, { $bigint: String(2n ** 200n) }],
  ["number-beyond-2-53", 2 ** 60, 2 ** 60],
  ["date", new Date(0), { $date: "1970-01-01T00:00:00.000Z" }],
  ["invalid-date", new Date(Number.NaN), { $date: null }],
  [
    "map",
    new Map<unknown, unknown>([[{ k: 1 }, new Set([1n])]]),
    { $map: [[{ k: 1 }, { $set: [{ $bigint: "1" }] }]] },
  ],
  ["set", new Set(["a"]), { $set: ["a"] }],
  ["regexp", /a\/b/giu, { $regexp: ["a\\/b", "giu", 0] }],
  ["buffer", Buffer.from("hi"), { $bytes: "aGk=", type: "Buffer" }],
  ["typed-array", new Uint16Array([1]), { $bytes: "AQA=", type: "Uint16Array" }],
  ["array-buffer", new Uint8Array([1]).buffer, { $bytes: "AQ==", type: "ArrayBuffer" }],
  ["data-view", new DataView(new ArrayBuffer(1)), { $bytes: "AA==", type: "DataView" }],
  [
    "error",
    Object.assign(new TypeError("bad", { cause: new Error("why") }), { code: "E1" }),
    { $error: like({ name: "TypeError", message: "bad", code: "E1" }) },
  ],
  [
    "aggregate-error",
    new AggregateError([new Error("one")], "both"),
    {
      $error: like({ errors: [{ $error: like({ message: "one" }) }] }),
    },
  ],
  [
    "dom-exception",
    new DOMException("gone", "AbortError"),
    { $error: like({ name: "AbortError", message: "gone" }) },
  ],
  ["circular", circular, { name: "circle", self: { $ref: "/payload/output" } }],
  ["shared", [sharedPart, sharedPart], [{ once: true }, { $ref: "/payload/output/0" }]],
  ["sparse", sparse, { $array: { length: 4_000_000_001, entries: [["4000000000", "far"]] } }],
  ["dollar", { $date: "mine" }, { $object: { $date: "mine" } }],
  ["odd-keys", JSON.parse('{"__proto__":1,"toJSON":2,"":3}'), JSON.parse('{"__proto__":1,"toJSON":2,"":3}')],
  ["lone-surrogate", "\ud800", "\ud800"],
  ["controls", "\u001b[31mred\n\u0007", "\u001b[31mred\n\u0007"],
  [
    "error-that-paints",
    new Error("\u001b[31mred\u001b[2J"),
    { $error: like({ message: "\u001b[31mred\u001b[2J" }) },
  ],
];

const log = temporaryLog();
const { dir } = log;
const args = ["--db", dir, "all"];
let asJson: CommandEnd;
let inWords: CommandEnd;
let whole: CommandEnd;
let state: CommandEnd;
let stateWhole: CommandEnd;

beforeAll(async () => {
  const flow = valuesFlow(new Map(VALUES.map(([name, value]) => [name, value])));
  const app = openApp(dir, [flow]);
  await (await app.runtime.start(flow, {}, { executionId: "all" })).result();
  await app.close();
  asJson = await heddle("logs", ...args, "--json");
  inWords = await heddle("logs", ...args);
  whole = await heddle("logs", ...args, "--full");
  state = await heddle("debug", ...args, "--json");
  stateWhole = await heddle("debug", ...args, "--full");
});
afterAll(log.remove);

describe("any stored value can be shown (C-EFF-04)", () => {
  it("by every command, without a complaint", async () => {
    const list = await heddle("ls", "--db", dir, "--json");
    for (const { code, stderr } of [asJson, inWords, whole, state, stateWhole, list]) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    }
  });

  it.each(VALUES)("%s", (name, value, json) => {
    const steps = jsonLines(asJson.stdout).filter(({ payload }) => stepOf(payload) === name);
    expect(steps).toMatchObject([{ type: "STEP_STARTED" }, { type: "STEP_COMPLETED" }]);
    // An envelope leaves out a field that is undefined, as the event store does.
    const output = (steps[1]!["payload"] as { output?: unknown }).output;
    expect(output).toEqual(value === undefined ? undefined : json);
    const lines = inWords.stdout.split("\n").filter((line) => line.includes(` ${name}  output `));
    expect(lines).toHaveLength(1);
    expect(whole.stdout).toContain(` ${name}\n`);
    expect(stateWhole.stdout).toContain(`\n${name} output\n`);
    expect(jsonLines(state.stdout)).toMatchObject([{ frames: { [name]: { status: "completed" } } }]);
  });

  it("steers no terminal, whatever its texts hold", () => {
    for (const { stdout } of [inWords, whole, stateWhole]) expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
    expect(inWords.stdout).toContain("\\x1b[31mred\\x1b[2J");
  });
});

function stepOf(payload: unknown): unknown {
  return (payload as { stepId?: unknown }).stepId;
}
