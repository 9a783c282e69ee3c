import { addExtension, pack, unpack } from "msgpackr";
import { expect, it } from "vitest";
import { fromWire, packRecord, toWire, unpackRecord } from "../../../src/kernel/codec/index.js";

// msgpackr has one table of extensions for the whole process, and an application may use it too. In a file of its own
// because the table cannot be put back.
it("C-EFF-04: an application that claims our extension type for a class of its own does not change our log", () => {
  class Point {
    readonly x: number = 1;
  }
  const value = { map: new Map([["a", 1n]]), at: new Date(5) };
  const before = Uint8Array.from(packRecord(toWire(value)));

  addExtension({ Class: Point, type: 0x68, write: () => 7, read: () => new Point() });
  expect(unpack(pack(new Point()))).toBeInstanceOf(Point);

  expect(Uint8Array.from(packRecord(toWire(value)))).toEqual(before);
  expect(fromWire(unpackRecord(before))).toEqual(value);
});
