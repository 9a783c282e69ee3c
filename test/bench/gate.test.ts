import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { judgeRows, parseGate } from "../../bench/gate/gate.js";
import { questions } from "../../bench/questions/index.js";

const gate = { why: [], failsBelow: 0.5, rows: { a: 0.6, b: 10 } };

/** Answers of each row, one a try. */
async function judged(answers: Readonly<Record<string, readonly (number | undefined)[]>>) {
  const tries: string[] = [];
  const verdicts = await judgeRows(gate, async (id) => {
    const earlier = tries.filter((name) => name === id).length;
    tries.push(id);
    return answers[id]?.[earlier];
  });
  return { tries, failed: verdicts.filter(({ fails }) => fails).map(({ id }) => id) };
}

describe("the regression gate", () => {
  it("passes what noise can explain, at the first try", async () => {
    expect(await judged({ a: [0.31], b: [5.1] })).toEqual({ tries: ["a", "b"], failed: [] });
  });

  it("fails a row that is below half of its reference twice, and tries it again after all others", async () => {
    expect(await judged({ a: [0.29, 0.28], b: [10] })).toEqual({ tries: ["a", "b", "a"], failed: ["a"] });
  });

  it("passes a row whose second try is fine", async () => {
    expect(await judged({ a: [0.1, 0.6], b: [10] })).toEqual({ tries: ["a", "b", "a"], failed: [] });
  });

  it("passes what it had no time to measure, or to measure again", async () => {
    expect((await judged({ a: [], b: [1] })).failed).toEqual([]);
  });

  it("has references of rows whose sides have processes of their own", () => {
    const { rows } = parseGate(readFileSync(new URL("../../bench/gate.json", import.meta.url), "utf8"));
    for (const id of Object.keys(rows))
      expect(questions.find((question) => question.id === id)?.sampler, id).toBeDefined();
  });
});
