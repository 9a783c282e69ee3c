import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeValue, fromWire, toWire } from "../../../src/kernel/codec/index.js";
import { anyValue } from "./values.js";

describe("C-EFF-04: printing works for every value of the table", () => {
  it("on one line, within its limit, in well-formed text", () => {
    fc.assert(
      fc.property(anyValue, fc.integer({ min: 1, max: 200 }), (value, charsMax) => {
        const text = describeValue(fromWire(toWire(value)), charsMax);
        expect(text.length).toBeLessThanOrEqual(charsMax);
        expect(text).not.toMatch(/[\n\r\t]/);
        expect(text.isWellFormed()).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  const circle: Record<string, unknown> = { a: 1 };
  circle["self"] = circle;

  it.each([
    [undefined, "undefined"],
    [null, "null"],
    [-0, "-0"],
    [12n, "12n"],
    ["two\nlines", '"two\\nlines"'],
    ["\ud800", '"\\ud800"'],
    [{ target: "db-1", n: 17 }, '{ target: "db-1", n: 17 }'],
    [{ "odd key": {} }, '{ "odd key": {} }'],
    [[1, [2, [3, [4]]]], "[ 1, [ 2, [ 3, [array of 1] ] ] ]"],
    [{ a: { b: { c: { d: 1 } } } }, "{ a: { b: { c: {…} } } }"],
    [Array.from({ length: 20 }, (_, index) => index), "[ 0, 1, 2, 3, 4, 5, 6, 7, … 12 more ]"],
    [Object.assign([], { length: 2, 1: 1 }), "[ [hole], 1 ]"],
    [new Map([["a", new Set([1])]]), 'Map(1) { "a" => Set(1) { 1 } }'],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    [new Date(Number.NaN), "Invalid Date"],
    [/a b/g, "/a b/g"],
    [Buffer.from("0123456789"), "<Buffer 10 bytes: 3031323334353637…>"],
    [new Float32Array(2), "<Float32Array 8 bytes: 0000000000000000>"],
    [new ArrayBuffer(0), "<ArrayBuffer 0 bytes>"],
    [new TypeError("bad\n thing"), "TypeError: bad thing"],
    [circle, "{ a: 1, self: [circular] }"],
    [Object.create(null), "{}"],
  ])("%o", (value: unknown, text) => {
    expect(describeValue(value)).toBe(text);
  });

  it("and for values nobody has checked, without running their code", () => {
    const trap = (): never => {
      throw new Error("ran");
    };
    expect(
      describeValue({
        get a() {
          return trap();
        },
      }),
    ).toBe("{ a: [getter] }");
    expect(describeValue(new Proxy({}, { get: trap, ownKeys: trap, getPrototypeOf: trap }))).toBe(
      "[a Proxy]",
    );
    expect(describeValue([function named() {}, Symbol("s"), new URL("http://localhost/")])).toBe(
      "[ [a function (named)], [a symbol (s)], [an instance of class URL] ]",
    );
    expect(describeValue(Object.defineProperty(new Error("m"), "message", { get: trap }))).toBe(
      "[a value that cannot be shown]",
    );
    expect(describeValue({ "\ud800": 1 }, 10).isWellFormed()).toBe(true);
  });
});
