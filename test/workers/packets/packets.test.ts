// Packets carry any wire in memory of their own, and failures come back as what they were.

import { deepStrictEqual } from "node:assert/strict";
import { MessageChannel } from "node:worker_threads";
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
import { packFailure, unpackFailure, unpackPacket } from "../../../src/workers/packets/index.js";
import { type Packet, packetBytes, packPacket, postPacket } from "../../../src/workers/packets/packet.js";
import { anyValue } from "../../kernel/codec/values.js";

describe("a packet", () => {
  it("K1, K2: holds any values, in exactly as much memory as it needs", () => {
    fc.assert(
      fc.property(fc.array(anyValue, { maxLength: 5 }), fc.nat(3), (few, sizes) => {
        const values = Array.from({ length: 4 ** sizes }, () => few).flat();
        const packet = packPacket(values.map((value, n) => [n, toWire(value)]));
        const isSmall = typeof packet === "string";
        expect(isSmall).toBe(packetBytes(packet) <= 1_024);
        const messages = unpackPacket(structuredClone(packet, { transfer: isSmall ? [] : [packet] }));
        if (!isSmall) expect(packet.byteLength).toBe(0);
        deepStrictEqual(
          messages.map(([, wire]) => fromWire(wire)),
          values,
        );
      }),
      { numRuns: 300 },
    );
  });

  it("K1: is posted with its size told, whether it is copied or handed over", async () => {
    const { port1, port2 } = new MessageChannel();
    const heard: unknown[] = [];
    const both = new Promise<void>((resolve) => {
      port2.on("message", (packet) => heard.push(packet) === 2 && resolve());
    });
    const sizes = [10, 10_000].map((length) => postPacket(port1, [[0, new Uint8Array(length)]]));
    await both;
    port1.close();
    expect(heard.map((packet) => packetBytes(packet as Packet))).toEqual(sizes);
    expect(sizes.map((size) => size > 1_024)).toEqual([false, true]);
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
