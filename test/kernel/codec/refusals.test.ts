import { once } from "node:events";
import { PassThrough } from "node:stream";
import { MessageChannel } from "node:worker_threads";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fromWire,
  packRecord,
  toWire,
  unpackRecord,
  VALUE_DEPTH_MAX,
  VALUE_LIMITS,
} from "../../../src/kernel/codec/index.js";
import { HeddleError } from "../../../src/kernel/errors.js";
import { anyValue } from "./values.js";

function refusal(value: unknown, limits = VALUE_LIMITS): HeddleError {
  try {
    toWire(value, limits);
  } catch (error) {
    if (error instanceof HeddleError) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

class Money {
  readonly amount = 5;
}
class Dates extends Date {}
class Bytes extends Uint8Array {}
class List extends Array<unknown> {}
class View extends DataView<ArrayBuffer> {}
class Unnamed {}
Object.defineProperty(Unnamed, "name", { value: "" });

describe("C-EFF-05: a value that cannot be recorded is refused by name and path", () => {
  const kinds: [kind: string, value: unknown][] = [
    ["a function (cb)", function cb() {}],
    ["a function", () => {}],
    ["a function (Money)", Money],
    ["a symbol (mark)", Symbol("mark")],
    ["a Proxy", new Proxy({}, {})],
    ["a Proxy", new Proxy([], {})],
    ["a Proxy", new Proxy(() => {}, {})],
    ["a Promise", Promise.resolve()],
    ["a WeakMap", new WeakMap()],
    ["a WeakSet", new WeakSet()],
    ["a WeakRef", new WeakRef({})],
    ["a SharedArrayBuffer", new SharedArrayBuffer(4)],
    ["memory shared between threads", new Uint8Array(new SharedArrayBuffer(4))],
    ["a generator", (function* () {})()],
    ["a stream (PassThrough)", new PassThrough()],
    ["a stream (ReadableStream)", new ReadableStream()],
    ["a stream (WritableStream)", new WritableStream()],
    ["an instance of class URL", new URL("http://localhost/")],
    ["an instance of class Money", new Money()],
    ["an instance of class Dates", new Dates()],
    ["an instance of class Bytes", new Bytes(2)],
    ["an instance of class List", new List()],
    ["an instance of class View", new View(new ArrayBuffer(2))],
    ["an object with a prototype of its own", new Unnamed()],
    ["a stream (unnamed)", Object.create(Object.assign(Object.create(null) as object, { pipe: 1 }))],
    ["an instance of class String", new String("boxed")],
    ["an object with a prototype of its own", Object.create(Object.create(null) as object)],
    ["an object with a symbol as key (mark)", { [Symbol("mark")]: 1 }],
    ["an object with a symbol as key (mark)", Object.assign([1], { [Symbol("mark")]: 1 })],
    [
      "an arguments object",
      (function () {
        return arguments;
      })(),
    ],
    ["a Map with a property of its own (extra)", Object.assign(new Map(), { extra: 1 })],
    [
      "something that throws when it is read",
      {
        get bad() {
          throw new Error("no");
        },
      },
    ],
  ];

  it.each(kinds)("%s", (kind, value) => {
    const error = refusal({ rows: [1, { cb: value }] });
    expect(error.code).toBe("VALUE_NOT_RECORDABLE");
    expect(error.details).toEqual({ path: "value.rows[1].cb", kind });
    expect(error.message).toMatch(/^value\.rows\[1\]\.cb is /);
    expect(refusal(value).details["path"]).toBe("value");
  });

  it("names the place in each kind of container", () => {
    const bad = (): void => {};
    const at = (value: unknown): unknown => refusal(value).details["path"];
    expect(at({ "not a name": bad })).toBe('value["not a name"]');
    expect(at({ a: 1, __proto__: null, b: { c: bad } })).toBe("value.b.c");
    expect(
      at(
        JSON.parse('{"__proto__":1}') &&
          Object.defineProperty({}, "__proto__", { value: { x: bad }, enumerable: true }),
      ),
    ).toBe("value.__proto__.x");
    expect(at(new Map([["key", { f: bad }]]))).toBe('value.get("key").f');
    expect(at(new Map([[7, bad]]))).toBe("value.get(7)");
    expect(at(new Map([[{}, bad]]))).toBe("value.values[0]");
    expect(at(new Map([[bad, 1]]))).toBe("value.keys[0]");
    expect(at(new Set([1, bad]))).toBe("value.values[1]");
    expect(at(Object.assign([], { 5: bad }))).toBe("value[5]");
    expect(at(new Error("m", { cause: { f: bad } }))).toBe("value.cause.f");
    expect(at(Object.assign(new Error("m"), { request: bad }))).toBe("value.request");
    expect(at(new AggregateError([1, bad]))).toBe("value.errors[1]");
    // The way to an earlier sibling must not show.
    expect(at({ deep: { deeper: [1] }, f: bad })).toBe("value.f");
  });

  it("does not look at properties that are not enumerable", () => {
    const value = Object.defineProperties(
      { a: 1 },
      { [Symbol("hidden")]: { value: 1 }, f: { value: () => {} } },
    );
    expect(fromWire(toWire(value))).toEqual({ a: 1 });
  });

  it("keeps what a getter threw as the cause", () => {
    const thrown = new TypeError("no");
    const error = refusal({
      get bad() {
        throw thrown;
      },
    });
    expect(error.cause).toBe(thrown);
  });

  it("refuses bytes that were transferred away, and not empty ones", async () => {
    const { port1, port2 } = new MessageChannel();
    const view = new Uint8Array(8);
    port1.postMessage(view.buffer, [view.buffer]);
    await once(port2, "message");
    port1.close();
    expect(refusal({ view }).details).toEqual({
      path: "value.view",
      kind: "bytes whose buffer was transferred away",
    });
    expect(fromWire(toWire(new Uint8Array(0)))).toEqual(new Uint8Array(0));
  });
});

describe("C-EFF-05: a value over the limits is refused before anything is encoded", () => {
  it.each([
    ["a string of half a gigabyte", "x".repeat(2 ** 29 - 24), 2 ** 29 - 24],
    ["a Buffer of 50 MB", Buffer.alloc(50_000_000), 50_000_000],
    ["a typed array of 50 MB", new Float64Array(6_250_000), 50_000_000],
    ["a string of three-byte characters", "\u4e00".repeat(6_000_000), 18_000_000],
    ["many small parts", Array.from({ length: 2_000_000 }, () => "12345678"), VALUE_LIMITS.bytesMax],
  ])("%s, with size and limit", (_name, value, bytes) => {
    const error = refusal({ payload: value });
    expect(error.code).toBe("VALUE_TOO_LARGE");
    expect(error.details["bytesMax"]).toBe(VALUE_LIMITS.bytesMax);
    expect(error.details["bytes"]).toBeGreaterThanOrEqual(bytes);
    expect(error.details["bytes"]).toBeLessThan(bytes + 100);
    expect(error.details["path"]).toMatch(/^value\.payload/);
    expect(error.message).toContain(String(VALUE_LIMITS.bytesMax));
  });

  it("spends about what the record takes", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = packRecord(toWire(value)).length;
        expect(() => toWire(value, { ...VALUE_LIMITS, bytesMax: Math.floor(bytes / 2) - 16 })).toThrow();
        expect(() => toWire(value, { ...VALUE_LIMITS, bytesMax: 9 * bytes + 16 })).not.toThrow();
      }),
    );
  });

  it("takes legal payloads when the limit is raised", () => {
    const bytes = Buffer.alloc(50_000_000, 1);
    const limits = { ...VALUE_LIMITS, bytesMax: 2 ** 26 };
    const copy = fromWire(unpackRecord(packRecord(toWire(bytes, limits)))) as Buffer;
    expect(bytes.equals(copy)).toBe(true);
  });
});

describe("C-EFF-05: depth", () => {
  const wrappers: [name: string, wrap: (value: unknown) => unknown][] = [
    ["objects", (value) => ({ value })],
    ["arrays", (value) => [value]],
    ["arrays with holes", (value) => Object.assign([], { 1: value })],
    ["Maps", (value) => new Map([["key", value]])],
    ["Map keys", (value) => new Map([[value, "item"]])],
    ["Sets", (value) => new Set([value])],
    ["causes", (cause) => new Error("m", { cause })],
    ["objects with odd keys", (value) => Object.defineProperty({}, "__proto__", { value, enumerable: true })],
    ["objects without prototype", (value) => Object.assign(Object.create(null) as object, { value })],
  ];

  it.each(wrappers)("%s may nest to the limit and no further", (_name, wrap) => {
    let value: unknown = "core";
    for (let level = 0; level < VALUE_DEPTH_MAX; level++) value = wrap(value);
    const wire = unpackRecord(packRecord(toWire(value)));
    expect(depthOf(fromWire(wire))).toBe(depthOf(value));
    const error = refusal(wrap(value));
    expect(error.code).toBe("VALUE_NOT_RECORDABLE");
    expect(error.details["kind"]).toBe("a value nested too deep");
    expect(error.message).toContain(String(VALUE_DEPTH_MAX));
    expect(error.message.length).toBeLessThan(600);
  });

  it("refuses a million levels without running out of stack", () => {
    let value: unknown = "core";
    for (let level = 0; level < 1_000_000; level++) value = { next: value };
    const error = refusal(value);
    expect(error.code).toBe("VALUE_NOT_RECORDABLE");
    expect(error.details["path"]).toMatch(/^value\.next\.next\.next/);
  });

  it("can be set lower", () => {
    expect(refusal([[[[]]]], { ...VALUE_LIMITS, depthMax: 3 }).details["path"]).toBe("value[0][0][0]");
    expect(toWire([[[]]], { ...VALUE_LIMITS, depthMax: 3 })).toEqual([[[]]]);
  });
});

/** Without recursion: the deepest values are beyond what a test should put on the stack. */
function depthOf(value: unknown): number {
  let depth = 0;
  for (let part = value; typeof part === "object" && part !== null; depth++) {
    if (part instanceof Map)
      part = [...part].flat().find((item) => typeof item === "object" || item === "core");
    else if (part instanceof Set) [part] = part;
    else if (part instanceof Error) part = part.cause;
    else part = Object.getOwnPropertyDescriptor(part, Object.keys(part)[0] as string)?.value;
  }
  return depth;
}
