import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  failureToWire,
  fromWire,
  packRecord,
  toWire,
  unpackRecord,
  VALUE_LIMITS,
} from "../../../src/kernel/codec/index.js";
import { anyValue } from "./values.js";

type Failure = Error & Record<string, unknown>;

function recorded(thrown: unknown, limits = VALUE_LIMITS): Failure {
  return fromWire(unpackRecord(packRecord(failureToWire(thrown, limits)))) as Failure;
}

describe("C-EFF-05: whatever was thrown, something is recorded", () => {
  it("keeps what can be recorded as it is", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(Buffer.compare(packRecord(failureToWire(value)), packRecord(toWire(value)))).toBe(0);
      }),
    );
  });

  it("puts words in place of properties that cannot be recorded", () => {
    const error = Object.assign(new RangeError("the service said no", { cause: new Error("inner") }), {
      code: "E_NO",
      status: 429,
      config: { url: "/x", retries: 3 },
      request: new PassThrough(),
      transform: () => {},
      get broken() {
        return 1;
      },
    });
    Object.defineProperty(error, "broken", {
      get: () => {
        throw new Error("no");
      },
      enumerable: true,
    });
    const copy = recorded(error);
    expect(copy).toBeInstanceOf(RangeError);
    expect(copy.stack).toBe(error.stack);
    expect(copy.cause).toBeInstanceOf(Error);
    expect(Object.fromEntries(Object.entries(copy).concat([["message", copy.message]]))).toEqual({
      message: "the service said no",
      code: "E_NO",
      status: 429,
      config: { url: "/x", retries: 3 },
      request: "[not recorded: a stream (PassThrough)]",
      transform: "[not recorded: a function (transform)]",
      broken: "[a getter that throws]",
    });
  });

  it("does the same for causes, and ends with a circle of them", () => {
    const inner = Object.assign(new TypeError("inner"), { socket: new PassThrough(), code: "E_IN" });
    const outer = Object.assign(new Error("outer", { cause: inner }), { f: () => {} });
    const cause = recorded(outer).cause as Failure;
    expect([cause.name, cause.message, cause["code"], cause["socket"]]).toEqual([
      "TypeError",
      "inner",
      "E_IN",
      "[not recorded: a stream (PassThrough)]",
    ]);
    inner.cause = outer;
    expect(recorded(outer).message).toBe("outer");
  });

  it("keeps class, name and code of an error far too large, and the start of its message", () => {
    class Verbose extends TypeError {
      override name = "Verbose";
      readonly code = "E_LONG";
      readonly body = Buffer.alloc(20_000_000);
    }
    const copy = recorded(new Verbose("m".repeat(20_000_000)));
    expect(copy).toBeInstanceOf(TypeError);
    expect([copy.name, copy["code"], copy["body"]]).toEqual([
      "Verbose",
      "E_LONG",
      "[not recorded: too large]",
    ]);
    expect(copy.message).toMatch(/^m{100}/);
    expect(packRecord(failureToWire(new Verbose("m".repeat(20_000_000)))).length).toBeLessThan(40_000);
  });

  it.each([
    [() => {}, "a function"],
    [Symbol("s"), "a symbol (s)"],
    [new Proxy(new Error("m"), {}), "a Proxy"],
    [new URL("http://localhost/"), "an instance of class URL"],
    ["x".repeat(20_000_000), "too large"],
  ])("makes an error of a thrown thing that is none and cannot be kept", (thrown: unknown, words) => {
    const copy = recorded(thrown);
    expect(copy).toBeInstanceOf(Error);
    expect(copy.message).toContain(`Something was thrown that cannot be recorded: ${words}`);
    expect(copy.message.length).toBeLessThan(200);
  });
});
