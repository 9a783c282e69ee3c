// Goal: JSON of any value: it parses, it is small, and nothing in it can be mistaken for something else.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonLine, toJson } from "../../../src/cli/render/json.js";
import { anyValue } from "../../kernel/codec/values.js";

describe("JSON of a value", () => {
  it("is one line that parses to what was meant, for any value there is (C-EFF-04)", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const line = jsonLine(value);
        expect(line).not.toMatch(/[\n\r]/);
        expect(JSON.parse(line)).toEqual(plainCopy(toJson(value)));
      }),
      { numRuns: 300 },
    );
  });

  it("points to where an object stands that was met before", () => {
    const part = { a: 1 };
    const map = new Map<unknown, unknown>([["k/~", part]]);
    const value = { "x/y~": [map], again: part, self: undefined as unknown };
    value.self = value;
    expect(toJson(value)).toEqual({
      "x/y~": [{ $map: [["k/~", { a: 1 }]] }],
      again: { $ref: "/x~1y~0/0/$map/0/1" },
      self: { $ref: "" },
    });
  });

  it("stays small when a value is shared many times over", () => {
    let value: unknown = "leaf";
    for (let level = 0; level < 40; level++) value = [value, value];
    expect(jsonLine(value).length).toBeLessThan(10_000);
  });

  it("wraps an object of the user's own that looks like one of ours", () => {
    expect(toJson({ $bigint: "1" })).toEqual({ $object: { $bigint: "1" } });
    expect(toJson({ price: "$5" })).toEqual({ price: "$5" });
  });
});

/** `__proto__` as a property of its own survives JSON; `toEqual` wants both sides to have the same prototypes. */
function plainCopy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
