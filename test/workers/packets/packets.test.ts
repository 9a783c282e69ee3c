// Packets carry any wire in memory of their own, and failures come back as what they were.

import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromWire, toWire } from "../../../src/kernel/codec/index.js";
import {
  HeddleError,
  OverloadedError,
  PartitionLockedError,
  ResumePayloadValidationError,
  TypedFailure,
} from "../../../src/kernel/errors.js";
import { packFailure, packPacket, unpackFailure, unpackPacket } from "../../../src/workers/packets/index.js";
import { anyValue } from "../../kernel/codec/values.js";

describe("a packet", () => {
  it("K1, K2: holds any values, in exactly as much memory as it needs", () => {
    fc.assert(
      fc.property(fc.array(anyValue, { maxLength: 5 }), (values) => {
        const packet = packPacket(values.map((value, n) => [n, toWire(value)]));
        const { buffer, byteLength } = new Uint8Array(packet);
        expect(buffer.byteLength).toBe(byteLength);
        const messages = unpackPacket(structuredClone(packet, { transfer: [packet] }));
        expect(packet.byteLength).toBe(0);
        deepStrictEqual(
          messages.map(([, wire]) => fromWire(wire)),
          values,
        );
      }),
      { numRuns: 300 },
    );
  });

  it.each([["text"], [new Uint8Array(3)], [undefined], [new ArrayBuffer(0)], [Uint8Array.of(1).buffer]])(
    "%o is none",
    (value) => {
      expect(() => unpackPacket(value)).toThrow(HeddleError);
    },
  );
});

describe("a failure", () => {
  const there = (error: unknown): unknown => unpackFailure(packFailure(error));

  it.each([
    [new HeddleError("GATE_NOT_OPEN", "m", { details: { gate: "g" } }), HeddleError],
    [new TypedFailure("soldOut", { left: 0 }), TypedFailure],
    [new OverloadedError("calls", 3), OverloadedError],
    [new ResumePayloadValidationError("m", [{ path: "a", message: "b" }], {}), ResumePayloadValidationError],
    [new PartitionLockedError("/data", { pid: 1, host: "h", since: 0 }), PartitionLockedError],
  ] as const)("of heddle comes back as an instance of its class: %s", (error, type) => {
    const copy = there(error) as HeddleError;
    expect(copy).toBeInstanceOf(type);
    expect(copy).not.toBe(error);
    expect(copy.retryable).toBe(error.retryable);
    expect(Object.entries(copy)).toEqual(Object.entries(error));
    expect(copy.stack).toBe(error.stack);
  });

  it("of somebody else does not become one of heddle's, whatever it calls itself", () => {
    const other = Object.assign(new Error("m"), { name: "HeddleError", code: "E_OTHER" });
    expect(there(other)).not.toBeInstanceOf(HeddleError);
    expect(there(Object.assign(new Error("m"), { code: "GATE_NOT_OPEN" }))).not.toBeInstanceOf(HeddleError);
  });

  it("that is in a circle, or an aggregate, is revived all through", () => {
    const inner = new HeddleError("STORAGE_FAILED", "inner");
    const outer = new AggregateError([inner, new TypeError("other")], "outer", { cause: inner });
    Object.assign(inner, { outer });
    const copy = there(outer) as AggregateError;
    expect(copy.cause).toBeInstanceOf(HeddleError);
    expect(copy.errors[0]).toBe(copy.cause);
    expect((copy.errors[0] as { outer?: unknown }).outer).toBe(copy);
  });
});
