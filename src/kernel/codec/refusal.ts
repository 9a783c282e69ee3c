// Refusals: the words for a value that cannot be recorded. Nothing here runs unless a value is refused.

import { types } from "node:util";
import { HeddleError } from "../errors.js";
import { shortened } from "./text.js";

/** One step from a value to a part of it: a property, an index, or a place in a Map or a Set. */
export type PathSegment =
  | string
  | number
  | { readonly mapKey: number }
  | { readonly mapItem: unknown; readonly index: number }
  | { readonly setItem: number };

/** `value.rows[3].cb`: the way to a part, as one would write it in code. */
export function pathText(segments: readonly PathSegment[]): string {
  let text = "value";
  for (const segment of segments) text += segmentText(segment);
  return text;
}

function segmentText(segment: PathSegment): string {
  if (typeof segment === "number") return `[${segment}]`;
  if (typeof segment === "string") {
    return /^[A-Za-z_$][\w$]*$/.test(segment) ? `.${segment}` : `[${JSON.stringify(shortened(segment))}]`;
  }
  if ("mapKey" in segment) return `.keys[${segment.mapKey}]`;
  if ("setItem" in segment) return `.values[${segment.setItem}]`;
  const { mapItem: key, index } = segment;
  if (typeof key === "string") return `.get(${JSON.stringify(shortened(key))})`;
  return typeof key === "number" || typeof key === "boolean" ? `.get(${key})` : `.values[${index}]`;
}

/** A path of 500 segments helps nobody: the message shows where it starts and `details.path` has the same text. */
const PATH_CHARS_MAX = 300;

export function notRecordable(
  segments: readonly PathSegment[],
  kind: string,
  advice: string,
  cause?: unknown,
): HeddleError {
  const path = shortened(pathText(segments), PATH_CHARS_MAX);
  return new HeddleError("VALUE_NOT_RECORDABLE", `${path} is ${kind}, which cannot be recorded. ${advice}`, {
    details: { path, kind },
    ...(cause !== undefined && { cause }),
  });
}

export function tooDeep(segments: readonly PathSegment[], depthMax: number): HeddleError {
  const path = shortened(pathText(segments), PATH_CHARS_MAX);
  return new HeddleError(
    "VALUE_NOT_RECORDABLE",
    `${path} lies more than ${depthMax} levels deep, which cannot be recorded. ` +
      "Record a flatter shape, for example a list of nodes that name each other by id.",
    { details: { path, kind: "a value nested too deep", depthMax } },
  );
}

export function tooLarge(segments: readonly PathSegment[], bytes: number, bytesMax: number): HeddleError {
  const path = shortened(pathText(segments), PATH_CHARS_MAX);
  return new HeddleError(
    "VALUE_TOO_LARGE",
    `The value is too large to record: at ${path} it reaches ${bytes} bytes and the limit is ${bytesMax}. ` +
      "Store the data elsewhere and record a reference to it, or raise the limit.",
    { details: { path, bytes, bytesMax } },
  );
}

/** What a refused value is, in words. Never runs code of the value's own, and never throws. */
export function kindInWords(value: unknown): string {
  if (typeof value === "function") {
    if (types.isProxy(value)) return "a Proxy";
    const name = ownText(value, "name");
    return name === undefined ? "a function" : `a function (${name})`;
  }
  if (typeof value === "symbol") return `a symbol (${shortened(value.description ?? "")})`;
  if (typeof value !== "object" || value === null) return `a ${typeof value}`;
  if (types.isProxy(value)) return "a Proxy";
  if (types.isPromise(value)) return "a Promise";
  if (types.isGeneratorObject(value)) return "a generator";
  if (types.isWeakMap(value)) return "a WeakMap";
  if (types.isWeakSet(value)) return "a WeakSet";
  if (types.isSharedArrayBuffer(value)) return "a SharedArrayBuffer";
  if (types.isModuleNamespaceObject(value)) return "a module namespace";
  if (types.isArgumentsObject(value)) return "an arguments object";
  const name = className(value);
  if (name === "WeakRef") return "a WeakRef";
  if (isStream(value)) return `a stream (${name ?? "unnamed"})`;
  return name === undefined ? "an object with a prototype of its own" : `an instance of class ${name}`;
}

/** What to do about it, for the kinds people meet most. */
export function adviceFor(value: unknown): string {
  const object = typeof value === "object" && value !== null && !types.isProxy(value);
  const name = object ? className(value) : undefined;
  if (typeof value === "function") return "Pass data, and keep behaviour in steps and effects.";
  if (object && types.isPromise(value)) return "Await it first.";
  if (name === "URL") return "Record its href.";
  if (object && isStream(value))
    return "From an effect, return streamResult(stream): what it holds is put away, and a reference to it recorded. Or read it inside a step.";
  return "Record plain data that describes it.";
}

/** The name of the nearest class on the prototype chain, read without running getters. */
export function className(value: object): string | undefined {
  for (let proto = prototypeOf(value); proto !== null; proto = prototypeOf(proto)) {
    const constructor: unknown = Object.getOwnPropertyDescriptor(proto, "constructor")?.value;
    if (typeof constructor === "function" && !types.isProxy(constructor)) return ownText(constructor, "name");
  }
  return undefined;
}

function isStream(value: object): boolean {
  for (let owner: object | null = value; owner !== null; owner = prototypeOf(owner)) {
    if (
      Object.hasOwn(owner, "pipe") ||
      Object.hasOwn(owner, "getReader") ||
      Object.hasOwn(owner, "getWriter")
    )
      return true;
  }
  return false;
}

function prototypeOf(value: object): object | null {
  return types.isProxy(value) ? null : (Object.getPrototypeOf(value) as object | null);
}

function ownText(value: object, key: string): string | undefined {
  const text: unknown = Object.getOwnPropertyDescriptor(value, key)?.value;
  return typeof text === "string" && text !== "" ? shortened(text) : undefined;
}
