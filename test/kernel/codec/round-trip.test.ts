import { deepStrictEqual } from "node:assert/strict";
import vm from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fromWire,
  packRecord,
  sameWire,
  toWire,
  unpackRecord,
  type Wire,
} from "../../../src/kernel/codec/index.js";
import { HeddleError } from "../../../src/kernel/errors.js";
import { anyGraph, anyTree, anyValue, spoil, withProperties } from "./values.js";

/** Through bytes in memory of their own, as a database hands them out. */
function stored(wire: Wire): Wire {
  return unpackRecord(Uint8Array.from(packRecord(wire)));
}

const live = (value: unknown): unknown => fromWire(toWire(value));
const replayed = (value: unknown): unknown => fromWire(stored(toWire(value)));

describe("C-EFF-04: what goes in is what comes out", () => {
  it("gives the live flow a deeply equal copy of any value of the table", () => {
    fc.assert(
      fc.property(anyTree, (value) => deepStrictEqual(live(value), value)),
      { numRuns: 2000 },
    );
  });

  it("gives a replay the same", () => {
    fc.assert(
      fc.property(anyTree, (value) => deepStrictEqual(replayed(value), value)),
      { numRuns: 2000 },
    );
  });

  it("keeps shared and circular references, live and replayed", () => {
    fc.assert(
      fc.property(anyGraph, (value) => {
        deepStrictEqual(live(value), value);
        deepStrictEqual(replayed(value), value);
        deepStrictEqual(identities(replayed(value)), identities(value));
      }),
      { numRuns: 1000 },
    );
  });

  it("keeps a wire as it was, whatever is done to the value or to copies of it", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const wire = toWire(value);
        const bytes = Buffer.from(packRecord(wire));
        spoil(fromWire(wire));
        spoil(value);
        expect(Buffer.compare(packRecord(wire), bytes)).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });

  it("decodes into memory that does not hang on the bytes", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = Uint8Array.from(packRecord(toWire(value)));
        const wire = unpackRecord(bytes);
        bytes.fill(0xc1);
        expect(sameWire(wire, toWire(value))).toBe(true);
      }),
    );
  });

  it("finds a wire the same after the trip", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const wire = toWire(value);
        expect(sameWire(wire, stored(wire))).toBe(true);
        expect(sameWire(stored(wire), wire)).toBe(true);
        expect(sameWire(wire, toWire(fromWire(wire)))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

/** Where in a value each object turns up, as lists of paths. */
function identities(value: unknown): string[][] {
  const places = new Map<object, string[]>();
  const visit = (part: unknown, path: string): void => {
    if (typeof part !== "object" || part === null) return;
    const known = places.get(part);
    if (known) {
      known.push(path);
      return;
    }
    places.set(part, [path]);
    if (part instanceof Map) [...part].flat().forEach((item, index) => visit(item, `${path}/m${index}`));
    if (part instanceof Set) [...part].forEach((item, index) => visit(item, `${path}/s${index}`));
    if (ArrayBuffer.isView(part)) return;
    for (const key of Object.getOwnPropertyNames(part).toSorted())
      visit(Reflect.get(part, key), `${path}/${key}`);
  };
  visit(value, "");
  return [...places.values()];
}

describe("C-EFF-04: the rows of the table", () => {
  const both = (value: unknown, check: (copy: unknown) => void): void => {
    check(live(value));
    check(replayed(value));
  };
  const equal = (value: unknown): void => both(value, (copy) => deepStrictEqual(copy, value));

  it("undefined alone, in objects and in arrays", () => {
    equal(undefined);
    equal({ gone: undefined, here: null });
    equal([undefined, null, undefined]);
  });

  it("numbers that are easily mangled", () => {
    equal([
      Number.NaN,
      Infinity,
      -Infinity,
      -0,
      0,
      2 ** 53 + 2,
      -(2 ** 63),
      Number.MIN_VALUE,
      Number.MAX_VALUE,
    ]);
  });

  it("bigints of any size, also those that would fit a number", () => {
    equal([0n, 5n, -5n, 2n ** 53n, 2n ** 60n, 2n ** 63n, 2n ** 64n, -(2n ** 64n), 7n ** 999n]);
  });

  it("strings and keys that are not well-formed", () => {
    equal(["\ud800", "a\udc00b", "\ud83d\ude00", `${"x".repeat(100)}\udfff`]);
    equal({ "\ud800": { "\udc00": "\ud800" } });
  });

  it("keys that mean something to JavaScript or to the encoder", () => {
    equal(
      withProperties({}, [
        ["before", 1],
        ["__proto__", { polluted: true }],
        ["after", [2]],
      ]),
    );
    equal({
      constructor: { name: "Map" },
      toJSON: 1,
      hasOwnProperty: 2,
      valueOf: null,
      "": 0,
      10: "ten",
      9: "nine",
    });
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  it("objects as they are, when a library has added to all of them", () => {
    const value = { a: { b: 1 } };
    const copies: unknown[] = [];
    const added = { value: () => 1, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(Object.prototype, "added", added);
    try {
      copies.push(live(value), replayed(value));
    } finally {
      Reflect.deleteProperty(Object.prototype, "added");
    }
    deepStrictEqual(copies, [value, value]);
  });

  it("an object with more keys than a small map holds", () => {
    equal(Object.fromEntries(Array.from({ length: 70_000 }, (_, index) => [`key${index}`, index])));
  });

  it("Date, also an invalid one", () => {
    equal([new Date(0), new Date(-1), new Date(8.64e15)]);
    both(new Date(Number.NaN), (copy) => {
      expect(copy).toBeInstanceOf(Date);
      expect((copy as Date).getTime()).toBeNaN();
    });
  });

  it("Map and Set in their order, with objects as keys", () => {
    const map = new Map<unknown, unknown>([
      [{ b: 1 }, "first"],
      ["a", new Set([3, 1, 2])],
      [Number.NaN, undefined],
    ]);
    equal(map);
    both(map, (copy) => deepStrictEqual([...(copy as Map<unknown, unknown>)], [...map]));
    both(new Set([3, 1, 2]), (copy) => deepStrictEqual([...(copy as Set<unknown>)], [3, 1, 2]));
  });

  it("RegExp with its place", () => {
    equal(Object.assign(/a\/(?<b>c)\n/gy, { lastIndex: 7 }));
    equal(new RegExp("[\\p{L}--[a-z]]", "v"));
  });

  it("every typed array, a view of its own length and type", () => {
    const buffer = new ArrayBuffer(32);
    new Uint8Array(buffer).set(Array.from({ length: 32 }, (_, index) => index));
    equal([new Uint16Array(buffer, 2, 3), new BigInt64Array(buffer, 8, 2), new Float32Array(buffer, 4, 1)]);
    equal(new DataView(buffer, 3, 5));
    equal(new Uint8Array(0));
    both(new Uint16Array(buffer, 2, 3), (copy) => {
      const array = copy as Uint16Array;
      expect([array.length, array.byteOffset, array.buffer.byteLength]).toEqual([3, 0, 6]);
    });
  });

  it("a small Buffer without the pool it lies in", () => {
    const small = Buffer.from("0123456789");
    expect(small.buffer.byteLength).toBeGreaterThan(10);
    both({ small }, (copy) => {
      const { small: bytes } = copy as { small: Buffer };
      expect(Buffer.isBuffer(bytes)).toBe(true);
      expect(bytes.buffer.byteLength).toBe(10);
      deepStrictEqual(bytes, small);
    });
    expect(packRecord(toWire(small)).length).toBeLessThan(20);
  });

  it("the caller's buffers stay whole and in place, and so does the pool", () => {
    const pooled = Buffer.from("pooled");
    const whole = new Uint8Array([1, 2, 3]).buffer;
    replayed({ pooled, whole, view: new DataView(whole) });
    expect(pooled.toString()).toBe("pooled");
    expect(whole.byteLength).toBe(3);
    expect(Buffer.from("next").toString()).toBe("next");
  });

  it("arrays with holes and with names", () => {
    equal(Object.assign([], { length: 6, 1: "one", 3: undefined }));
    equal("on 2024-05-06".match(/(?<year>\d+)-(\d+)/));
    equal(
      Object.assign(
        Array.from({ length: 1000 }, (_, index) => index),
        { total: 5 },
      ),
    );
    const vast: unknown[] = [];
    vast[4_000_000_000] = "far";
    both(vast, (copy) => {
      expect((copy as unknown[]).length).toBe(4_000_000_001);
      expect(Object.keys(copy as object)).toEqual(["4000000000"]);
    });
  });

  it("objects without a prototype", () => {
    equal(
      withProperties(Object.create(null) as object, [
        ["__proto__", 1],
        ["a", { b: 1 }],
      ]),
    );
  });

  it("getters by what they return", () => {
    const value = {
      get now() {
        return 5;
      },
    };
    both(value, (copy) => deepStrictEqual(copy, { now: 5 }));
  });

  it("values made in another realm, as values of this one", () => {
    const foreign: unknown = vm.runInNewContext(
      `({ list: [1], map: new Map([["a", { b: 1 }]]), at: new Date(5), bytes: new Uint8Array([1]), error: new TypeError("m") })`,
    );
    both(foreign, (copy) => {
      const error = new TypeError("m");
      deepStrictEqual(copy, {
        list: [1],
        map: new Map([["a", { b: 1 }]]),
        at: new Date(5),
        bytes: new Uint8Array([1]),
        error,
      });
    });
  });

  it("integers of other writers: exact, as bigint where a number would not be", () => {
    const int64 = (value: bigint): Uint8Array => {
      const bytes = Buffer.alloc(9, 0xd3);
      bytes.writeBigInt64BE(value, 1);
      return bytes;
    };
    expect(fromWire(unpackRecord(int64(9007199254740993n)))).toBe(9007199254740993n);
    expect(fromWire(unpackRecord(int64(-9007199254740993n)))).toBe(-9007199254740993n);
    expect(fromWire(unpackRecord(int64(17n)))).toBe(17);
    expect(fromWire(unpackRecord(Buffer.from("cfffffffffffffffff", "hex")))).toBe(2n ** 64n - 1n);
  });
});

describe("C-EFF-04: errors", () => {
  const both = <E extends Error>(value: E, check: (copy: E & Record<string, unknown>) => void): void => {
    check(live(value) as E & Record<string, unknown>);
    check(replayed(value) as E & Record<string, unknown>);
  };

  it("keep class, name, message, stack, cause, code and own properties", () => {
    const error = Object.assign(new RangeError("too far", { cause: new TypeError("why") }), {
      code: "E_FAR",
      limits: { max: 5n, at: new Date(0) },
    });
    both(error, (copy) => {
      deepStrictEqual(copy, error);
      expect(copy).toBeInstanceOf(RangeError);
      expect(copy.stack).toBe(error.stack);
      expect(copy.cause).toBeInstanceOf(TypeError);
      deepStrictEqual(Object.getOwnPropertyDescriptor(copy, "cause")?.enumerable, false);
      deepStrictEqual(Object.keys(copy), ["code", "limits"]);
    });
  });

  it("tell a cause of undefined from no cause, and no message from an empty one", () => {
    both(new Error("m", { cause: undefined }), (copy) => expect(Object.hasOwn(copy, "cause")).toBe(true));
    both(new Error("m"), (copy) => expect(Object.hasOwn(copy, "cause")).toBe(false));
    both(new Error(), (copy) => expect(Object.hasOwn(copy, "message")).toBe(false));
    both(new Error(""), (copy) => expect(Object.hasOwn(copy, "message")).toBe(true));
  });

  it("of an own class come back as the nearest built-in one, with the name", () => {
    class Declined extends TypeError {
      readonly code = "DECLINED";
    }
    Object.defineProperty(Declined.prototype, "name", { value: "Declined" });
    both(new Declined("no funds"), (copy) => {
      expect(Object.getPrototypeOf(copy)).toBe(TypeError.prototype);
      expect([copy.name, copy.message, copy.code]).toEqual(["Declined", "no funds", "DECLINED"]);
    });
    class Fixed extends Error {
      get code(): string {
        return "FIXED";
      }
    }
    both(new Fixed("m"), (copy) => expect([copy.name, copy.code]).toEqual(["Error", "FIXED"]));
  });

  it("of heddle keep name, code and details", () => {
    both(new HeddleError("ID_INVALID", "bad", { details: { field: "id" } }), (copy) => {
      expect([copy.name, copy.code, copy.details]).toEqual(["HeddleError", "ID_INVALID", { field: "id" }]);
    });
  });

  it("of the system keep what Node says", () => {
    const error = Object.assign(new Error("ENOENT: no such file"), {
      errno: -2,
      code: "ENOENT",
      syscall: "open",
      path: "/x",
    });
    both(error, (copy) => deepStrictEqual(copy, error));
  });

  it("AggregateError keeps its errors, in order and with their causes", () => {
    const error = new AggregateError(
      [new Error("one", { cause: 1 }), "two", new RangeError("three")],
      "many",
      { cause: 4 },
    );
    both(error, (copy) => {
      deepStrictEqual(copy, error);
      deepStrictEqual(copy.errors, error.errors);
      expect(Object.keys(copy)).toEqual([]);
    });
  });

  it("DOMException keeps name, message, code and stack", () => {
    const error = new DOMException("stop", "AbortError");
    both(error, (copy) => {
      expect(copy).toBeInstanceOf(DOMException);
      expect([copy.name, copy.message, copy.code, copy.stack]).toEqual([
        "AbortError",
        "stop",
        20,
        error.stack,
      ]);
    });
  });

  it("with a stack that is no text come back without one", () => {
    const error = new Error("m");
    error.stack = [{ line: 1 }] as unknown as string;
    both(error, (copy) => expect(copy.stack).toBeUndefined());
  });
});
