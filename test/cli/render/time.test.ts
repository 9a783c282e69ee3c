import { describe, expect, it } from "vitest";
import { age, clock, day, moment, span } from "../../../src/cli/render/time.js";

const AT = Date.UTC(2026, 10, 30, 9, 5, 7, 42);

describe("times", () => {
  it("are in UTC", () => {
    expect([day(AT), clock(AT), moment(AT)]).toEqual([
      "2026-11-30",
      "09:05:07.042",
      "2026-11-30 09:05:07.042",
    ]);
  });

  it("are shown as numbers when they are no dates, as an application's own clock may give", () => {
    for (const odd of [Number.NaN, Infinity, 9e15]) {
      expect([day(odd), clock(odd), moment(odd)]).toEqual([String(odd), String(odd), String(odd)]);
    }
    // Years of six digits, and those before the first.
    expect(moment(8.64e15)).toBe("+275760-09-13 00:00:00.000");
    expect(day(-1e15)).toBe("-029719-04-05");
  });
});

describe("spans", () => {
  it.each([
    [0, "0ms"],
    [999.4, "999ms"],
    [1204, "1.204s"],
    [59_999, "59.999s"],
    [723_000, "12m03s"],
    [3_600_000, "1h00m"],
    [11_040_000, "3h04m"],
    [443_000_000, "5d03h"],
    [-250, "-250ms"],
    [Number.NaN, "NaN"],
  ])("%s ms is %s", (ms, words) => {
    expect(span(ms)).toBe(words);
  });

  it.each([
    [-5, "now"],
    [999, "now"],
    [12_000, "12s"],
    [180_000, "3m"],
    [14_400_000, "4h"],
    [432_000_000, "5d"],
    [Number.NaN, "?"],
  ])("%s ms ago is %s", (ms, words) => {
    expect(age(ms)).toBe(words);
  });
});
