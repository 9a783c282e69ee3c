import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  firstDifference,
  packRecord,
  sameWire,
  toWire,
  unpackRecord,
} from "../../../src/kernel/codec/index.js";
import { anyValue } from "./values.js";

function difference(
  recorded: unknown,
  attempted: unknown,
): [path: string, recorded: string, attempted: string] | undefined {
  const wires = [unpackRecord(packRecord(toWire(recorded))), toWire(attempted)] as const;
  const found = firstDifference(...wires);
  expect(sameWire(...wires)).toBe(found === undefined);
  expect(sameWire(wires[1], wires[0])).toBe(found === undefined);
  return found && [found.path, found.recorded, found.attempted];
}

describe("sameWire", () => {
  it("C-EFF-04: agrees with deepStrictEqual, both ways", () => {
    fc.assert(
      fc.property(anyValue, anyValue, (one, other) => {
        const isSame = sameWire(toWire(one), toWire(other));
        expect(sameWire(toWire(other), toWire(one))).toBe(isSame);
        if (isSame) deepStrictEqual(one, other);
        else expect(firstDifference(toWire(one), toWire(other))).toBeDefined();
      }),
      { numRuns: 2000 },
    );
  });

  it("tells apart what is easily confused", () => {
    const values = [
      0,
      -0,
      0n,
      "0",
      "",
      null,
      undefined,
      false,
      Number.NaN,
      [],
      {},
      new Map(),
      new Set(),
      Buffer.alloc(0),
    ];
    const more = [
      new Date(0),
      new Date(Number.NaN),
      new Uint8Array(0),
      new ArrayBuffer(0),
      [undefined],
      { length: 0 },
    ];
    const errors = [
      new Error(),
      new TypeError(),
      new Error(""),
      Object.assign([], { length: 1 }),
      Object.create(null) as object,
    ];
    const all: unknown[] = [...values, ...more, ...errors];
    all.forEach((one, row) => {
      all.forEach((other, column) =>
        expect([row, column, sameWire(toWire(one), toWire(other))]).toEqual([row, column, row === column]),
      );
    });
  });

  it("does not mind the order of keys, nor where an error was made", () => {
    expect(difference({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toBeUndefined();
    expect(
      difference(
        Object.assign(Object.create(null) as object, { a: 1, b: 2 }),
        Object.assign(Object.create(null) as object, { b: 2, a: 1 }),
      ),
    ).toBeUndefined();
    const elsewhere = (): Error => new Error("m");
    expect(difference(new Error("m"), elsewhere())).toBeUndefined();
  });

  it("minds the order of a Map and of a Set", () => {
    expect(difference(new Set([1, 2]), new Set([2, 1]))).toEqual(["value.values[0]", "1", "2"]);
    expect(
      difference(
        new Map([
          ["a", 1],
          ["b", 1],
        ]),
        new Map([
          ["b", 1],
          ["a", 1],
        ]),
      ),
    ).toEqual(["value.keys[0]", '"a"', '"b"']);
  });

  it("minds which objects are one, whatever the order of keys", () => {
    const part = { n: 1 };
    expect(difference({ a: part, b: part }, { b: part, a: part })).toBeUndefined();
    expect(difference({ a: part, b: part }, { a: part, b: { n: 1 } })).toEqual([
      "value.b",
      "{ n: 1 } (the same object as before)",
      "{ n: 1 }",
    ]);
    const one: unknown[] = [];
    one.push([one]);
    const other: unknown[] = [];
    other.push([[other]]);
    expect(difference(one, one)).toBeUndefined();
    expect(difference(one, other)?.[0]).toBe("value[0][0]");
    // Zeros and the like are values, not objects that could be one.
    const zeros = { zero: -0, big: 1n, circle: {} };
    expect(difference([zeros, zeros, -0, -0, 1n], [zeros, zeros, -0, -0, 1n])).toBeUndefined();
  });
});

describe("firstDifference", () => {
  it("names the place and both values, shortly", () => {
    expect(difference({ rows: [{ id: 1 }, { id: 2 }] }, { rows: [{ id: 1 }, { id: 3 }] })).toEqual([
      "value.rows[1].id",
      "2",
      "3",
    ]);
    expect(difference(1, "1")).toEqual(["value", "1", '"1"']);
    expect(difference([1, 2], [1, 2, 3])).toEqual(["value[2]", "nothing", "3"]);
    expect(difference({ a: 1, b: 2 }, { a: 1 })).toEqual(["value.b", "2", "nothing"]);
    expect(difference({ a: 1 }, { a: 1, b: undefined })).toEqual(["value.b", "nothing", "undefined"]);
    expect(difference(new Map([["k", [1]]]), new Map([["k", [2]]]))).toEqual(['value.get("k")[0]', "1", "2"]);
    expect(difference(new Error("a"), new Error("b"))).toEqual(["value.message", '"a"', '"b"']);
    expect(difference(new Date(0), new Date(1))).toEqual([
      "value",
      "1970-01-01T00:00:00.000Z",
      "1970-01-01T00:00:00.001Z",
    ]);
    expect(difference(/a/g, /a/i)).toEqual(["value", "/a/g", "/a/i"]);
    expect(difference({ b: Buffer.from("a") }, { b: Buffer.from("b") })).toEqual([
      "value.b",
      "<Buffer 1 bytes: 61>",
      "<Buffer 1 bytes: 62>",
    ]);
    expect(difference(Object.assign([], { 3: 1 }), Object.assign([], { 3: 2 }))).toEqual([
      "value[3]",
      "1",
      "2",
    ]);
  });

  it("never shows more than a line of a payload", () => {
    const [path, recorded, attempted] =
      difference({ secret: "s".repeat(10_000) }, { secret: { list: Array(5000).fill("x") } }) ?? [];
    expect(path).toBe("value.secret");
    expect(recorded?.length).toBeLessThanOrEqual(60);
    expect(attempted?.length).toBeLessThanOrEqual(60);
  });

  it("hands over the two values, also from inside a graph", () => {
    const shared = { n: 1 };
    const found = firstDifference(
      toWire([shared, shared, { in: shared, x: 1 }]),
      toWire([shared, shared, [shared]]),
    );
    expect(found?.path).toBe("value[2]");
    expect(found?.values).toEqual([{ in: { n: 1 }, x: 1 }, [{ n: 1 }]]);
    expect(firstDifference(toWire({ a: 1 }), toWire({}))?.values).toEqual([1, undefined]);
  });

  it("finds the only difference of two values that differ in one leaf", () => {
    fc.assert(
      fc.property(anyValue, anyValue, fc.nat(), (before, after, number) => {
        const found = firstDifference(
          toWire([before, { leaf: number }, after]),
          toWire([before, { leaf: number + 1 }, after]),
        );
        expect(found?.path).toBe("value[1].leaf");
        expect(found?.values).toEqual([number, number + 1]);
      }),
    );
  });
});
