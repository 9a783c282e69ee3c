import fc from "fast-check";
import { pack } from "msgpackr";
import { describe, expect, it } from "vitest";
import {
  fromWire,
  packRecord,
  Special,
  toWire,
  unpackRecord,
  type Wire,
} from "../../../src/kernel/codec/index.js";
import { HeddleError } from "../../../src/kernel/errors.js";
import { anyValue } from "./values.js";

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));

function unreadable(read: () => unknown): HeddleError {
  try {
    read();
  } catch (error) {
    if (error instanceof HeddleError && error.code === "RECORD_UNREADABLE") return error;
    throw error;
  }
  throw new Error("It was read.");
}

/** Decodes any bytes at all: a value, or the one error there is for bytes that are none. */
function readable(bytes: Uint8Array): boolean {
  try {
    fromWire(unpackRecord(bytes));
    return true;
  } catch (error) {
    if (error instanceof HeddleError && error.code === "RECORD_UNREADABLE") return false;
    throw error;
  }
}

describe("C-EFF-04: the bytes are the contract", () => {
  // Logs hold these bytes. When this test fails, old logs have become unreadable: see the format version first.
  it.each([
    ["undefined", undefined, "d4 00 00"],
    ["a plain object", { a: 1, b: [true, null] }, "82 a1 61 01 a1 62 92 c3 c0"],
    ["-0", -0, "d4 68 00 91 00"],
    ["a small bigint", 5n, "d4 68 00 92 01 a1 35"],
    ["a bigint beyond 2^53", 2n ** 60n, "d3 10 00 00 00 00 00 00 00"],
    ["a string that is not well-formed", "\ud800", "d4 68 00 92 02 c4 02 00 d8"],
    ["references", circle(), "d4 68 00 92 04 81 a4 73 65 6c 66 d4 68 00 92 03 00"],
    ["Date", new Date(5), "d4 68 00 92 05 05"],
    ["RegExp", /a/g, "d4 68 00 94 06 a1 61 a1 67 00"],
    ["Map", new Map([["k", 1]]), "d4 68 00 93 07 a1 6b 01"],
    ["Set", new Set([1]), "d4 68 00 92 08 01"],
    ["an array with a hole", Object.assign([], { 1: 7 }), "d4 68 00 94 09 02 01 07"],
    ["__proto__ as a key", JSON.parse('{"__proto__":1}'), "d4 68 00 93 0a a9 5f 5f 70 72 6f 74 6f 5f 5f 01"],
    ["no prototype", Object.assign(Object.create(null) as object, { a: 1 }), "d4 68 00 93 0b a1 61 01"],
    ["Uint16Array", new Uint16Array([1]), "d4 68 00 93 0c 04 c4 02 01 00"],
    ["ArrayBuffer", new Uint8Array([1]).buffer, "d4 68 00 92 0d c4 01 01"],
    ["DataView", new DataView(new Uint8Array([1]).buffer), "d4 68 00 92 0e c4 01 01"],
    ["Buffer", Buffer.from([1, 2]), "c4 02 01 02"],
    [
      "an error",
      bareError(),
      "d4 68 00 95 0f a9 54 79 70 65 45 72 72 6f 72 01 a7 6d 65 73 73 61 67 65 a1 6d",
    ],
  ])("%s", (_name, value: unknown, bytes) => {
    expect(Buffer.from(packRecord(toWire(value))).toString("hex")).toBe(bytes.replaceAll(" ", ""));
  });
});

function circle(): unknown {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  return circle;
}

function bareError(): Error {
  const error = new TypeError("m");
  Reflect.deleteProperty(error, "stack");
  return error;
}

describe("packRecord", () => {
  it("never writes to bytes it has handed out", () => {
    const records = Array.from({ length: 3000 }, (_, index) =>
      packRecord(toWire({ index, text: "x".repeat(index % 97) })),
    );
    const before = records.map((bytes) => Buffer.from(bytes).toString("hex"));
    packRecord(toWire("y".repeat(1_000_000)));
    pack({ other: "user of the library in this process".repeat(500) });
    expect(records.map((bytes) => Buffer.from(bytes).toString("hex"))).toEqual(before);
    records.forEach((bytes, index) => expect(fromWire(unpackRecord(bytes))).toMatchObject({ index }));
  });

  it("does not let a small record keep the memory of a large one alive", () => {
    packRecord(toWire("x".repeat(5_000_000)));
    expect(packRecord(toWire({ small: true })).buffer.byteLength).toBeLessThan(100_000);
  });
});

describe("C-EFF-04: damaged bytes", () => {
  it("of any kind decode to a value or are refused with RECORD_UNREADABLE", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void readable(bytes)),
      { numRuns: 20_000 },
    );
  });

  it("made of tokens that mean something decode to a value or are refused", () => {
    const token = fc.constantFrom(
      0xd4,
      0x68,
      0,
      0x91,
      0x92,
      0x93,
      0x94,
      0x81,
      0xa1,
      0x61,
      0xc4,
      3,
      4,
      7,
      9,
      12,
      15,
      0xdc,
      0xcc,
    );
    const special = fc.tuple(fc.nat(16), fc.array(token, { maxLength: 12 })).map(([kind, rest]) => {
      const count = Math.min(rest.length + 1, 15);
      return [0xd4, 0x68, 0, 0x90 + count, kind, ...rest];
    });
    fc.assert(
      fc.property(fc.oneof(special, fc.array(token)), (bytes) => void readable(Uint8Array.from(bytes))),
      { numRuns: 20_000 },
    );
  });

  it("of a real record, one or some of them changed, cut or added, decode to a value or are refused", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(anyValue, damage, fc.option(fc.nat()), (value, changes, cut) => {
        const bytes = Uint8Array.from(packRecord(toWire(value)));
        for (const [place, byte] of changes) bytes[place % bytes.length] = byte;
        readable(cut === null ? bytes : bytes.subarray(0, cut % bytes.length));
      }),
      { numRuns: 5000 },
    );
  });

  it("cut anywhere are refused, and so is anything after the end", () => {
    const bytes = Uint8Array.from(
      packRecord(toWire({ a: [1, "two", 3n, new Map([[4, Buffer.from("5")]])], b: undefined })),
    );
    for (let end = 0; end < bytes.length; end++) {
      unreadable(() => unpackRecord(bytes.subarray(0, end)));
    }
    const error = unreadable(() => unpackRecord(Uint8Array.from([...bytes, 0])));
    expect(error.details).toEqual({ bytes: bytes.length + 1, position: bytes.length });
  });

  // A claim to a length costs its author five bytes; it must not cost the reader more.
  it.each([
    ["array", "dd ff ff ff ff"],
    ["array of thirty million", "dd 01 c9 c3 80 00"],
    ["arrays in arrays", "dd 00 00 00 09".repeat(10)],
    ["map", "df ff ff ff ff"],
    ["string", "db ff ff ff ff 61"],
    ["bytes", "c6 7f ff ff ff 61"],
    ["extension", "c9 ff ff ff ff 68"],
    ["short string", "bf 61"],
    ["header without its length", "dd 00 00"],
  ])("with a lying length are refused: %s", (_name, text) => {
    unreadable(() => unpackRecord(hex(text)));
  });

  it("that ask for a vast array get one without memory behind it", () => {
    const before = process.memoryUsage().heapUsed;
    // An array of thirty million holes: legal, and 240 MB if every hole took a word.
    const arrays = Array.from(
      { length: 20 },
      () => fromWire(unpackRecord(hex("d4 68 00 92 09 ce 01 c9 c3 80"))) as unknown[],
    );
    expect(arrays.every((array) => array.length === 30_000_000)).toBe(true);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
  });

  it("nested without end are refused", () => {
    unreadable(() => unpackRecord(new Uint8Array(1_000_000).fill(0x91)));
    unreadable(() => unpackRecord(hex("d4 68 00 92 04".repeat(100_000))));
  });

  it.each([
    ["record definition", "d4 72 40 91 a1 61 01"],
    ["Set of msgpackr", "d4 73 00 91 01"],
    ["Error of msgpackr", "d4 65 00 93 a5 45 72 72 6f 72 a1 6d c0"],
    ["RegExp of msgpackr", "d4 78 00 92 a1 61 a0"],
    ["identity of msgpackr", "d6 69 00 00 00 01 90"],
    ["pointer of msgpackr", "d6 70 00 00 00 01"],
    ["string bundle of msgpackr", "d6 62 ff ff ff ff 01"],
    ["timestamp", "d6 ff 00 00 00 00"],
    ["typed array of msgpackr", "c7 02 74 01 05"],
    ["bigint of msgpackr", "c7 01 42 05"],
    ["never used token", "c1"],
    ["special with data of its own", "d5 68 00 00"],
  ])("with what heddle does not write are refused: %s", (_name, text) => {
    unreadable(() => unpackRecord(hex(text)));
  });

  it.each([
    ["kind", "92 18 00"],
    ["no parts", "90"],
    ["parts that are no list", "01"],
    ["negative zero with more", "92 00 00"],
    ["bigint", "92 01 a1 78"],
    ["text of half a unit", "92 02 c4 01 00"],
    ["reference", "92 03 ff"],
    ["date", "92 05 a1 61"],
    ["pattern", "94 06 01 a0 00"],
    ["map", "92 07 01"],
    ["array length", "92 09 ff"],
    ["array key beyond its length", "94 09 01 02 00"],
    ["array key that is its length", "94 09 01 a6 6c 65 6e 67 74 68 05"],
    ["object key", "93 0a 01 01"],
    ["typed array number", "93 0c 0b c4 00"],
    ["typed array of half an element", "93 0c 04 c4 01 00"],
    ["bytes", "92 0d a0"],
    ["error class", "93 0f a3 46 6f 6f 00"],
    ["error with more hidden properties than it has", "93 0f a5 45 72 72 6f 72 01"],
  ])("of a special of wrong form are refused: %s", (_name, parts) => {
    unreadable(() => unpackRecord(hex(`d4 68 00 ${parts}`)));
  });

  it("that only show when the value is rebuilt are refused then", () => {
    unreadable(() => fromWire(unpackRecord(hex("d4 68 00 92 03 00"))));
    unreadable(() => fromWire(unpackRecord(hex("d4 68 00 92 04 91 d4 68 00 92 03 05"))));
    unreadable(() => fromWire(unpackRecord(hex("d4 68 00 94 06 a1 28 a0 00"))));
  });

  it("tell how many they are and where it broke, and not what was in them", () => {
    const error = unreadable(() => unpackRecord(hex("82 a6 73 65 63 72 65 74 a3 6b 65 79 a1")));
    expect(error.message).toBe(
      "A record of 13 bytes cannot be decoded: at byte 13 a length in it exceeds it, or it is of unknown kind. " +
        "The log may be damaged, or was written by a newer heddle.",
    );
  });

  it("do not keep the next record from being read", () => {
    const good = Uint8Array.from(packRecord(toWire({ good: [1, { a: "b" }] })));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        readable(bytes);
        expect(fromWire(unpackRecord(good))).toEqual({ good: [1, { a: "b" }] });
      }),
    );
  });
});

describe("unpackRecord", () => {
  it("gives back wires that can be packed again, to the same bytes", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = Buffer.from(packRecord(toWire(value)));
        expect(Buffer.compare(packRecord(unpackRecord(bytes)), bytes)).toBe(0);
      }),
    );
  });

  it("holds Specials only where a value needs one", () => {
    const wire = unpackRecord(packRecord(toWire({ plain: [1, "a", null], odd: new Map() }))) as {
      [key: string]: Wire;
    };
    expect(wire["plain"]).toEqual([1, "a", null]);
    expect(wire["odd"]).toBeInstanceOf(Special);
  });
});
