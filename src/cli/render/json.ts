// JSON of any recorded value. What JSON has no word for becomes an object with one key that begins with `$`
// (docs/cli.md has the table); an object of the user's own that has such a key is wrapped, so the two are never confused.
//
// An object met again becomes a pointer to where it stands: a value may hold itself, and one that is shared many times
// over would otherwise grow without bound.

import { types } from "node:util";
import { describeValue } from "../../kernel/codec/index.js";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** One line of JSON. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(toJson(value));
}

export function toJson(value: unknown): Json {
  return convert(value, "", new Map());
}

/** Where each object met so far stands, as a JSON pointer (RFC 6901). */
type Met = Map<object, string>;

function convert(value: unknown, at: string, met: Met): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { $number: describeValue(value) };
    case "bigint":
      return { $bigint: value.toString() };
    case "undefined":
      return { $undefined: true };
    case "function":
    case "symbol":
      return { $unknown: describeValue(value) };
    case "object": {
      if (value === null) return null;
      const known = met.get(value);
      if (known !== undefined) return { $ref: known };
      met.set(value, at);
      return convertObject(value, at, met);
    }
  }
}

function convertObject(value: object, at: string, met: Met): Json {
  if (Array.isArray(value)) return convertArray(value, at, met);
  if (types.isDate(value)) {
    const epochMs = value.getTime();
    return { $date: Number.isNaN(epochMs) ? null : value.toISOString() };
  }
  if (types.isRegExp(value)) return { $regexp: [value.source, value.flags, value.lastIndex] };
  if (types.isMap(value)) return { $map: pairs([...value], `${at}/$map`, met) };
  if (types.isSet(value)) {
    return { $set: [...value].map((item, index) => convert(item, `${at}/$set/${index}`, met)) };
  }
  const bytes = bytesOf(value);
  if (bytes) return { $bytes: bytes.toString("base64"), type: bytesType(value) };
  if (types.isNativeError(value) || value instanceof Error) {
    return { $error: properties(value, errorKeys(value), `${at}/$error`, met) };
  }
  const keys = Object.keys(value);
  if (!keys.some((key) => key.startsWith("$"))) return properties(value, keys, at, met);
  return { $object: properties(value, keys, `${at}/$object`, met) };
}

function convertArray(value: readonly unknown[], at: string, met: Met): Json {
  const keys = Object.keys(value);
  // Never a loop over the length: a sparse array may be four thousand million long.
  if (keys.length === value.length && keys.every((key, index) => key === String(index))) {
    return value.map((item, index) => convert(item, `${at}/${index}`, met));
  }
  const entries = keys.map((key): readonly [unknown, unknown] => [key, Reflect.get(value, key)]);
  return { $array: { length: value.length, entries: pairs(entries, `${at}/$array/entries`, met) } };
}

function pairs(entries: readonly (readonly [unknown, unknown])[], at: string, met: Met): Json {
  return entries.map(([key, item], index) => [
    convert(key, `${at}/${index}/0`, met),
    convert(item, `${at}/${index}/1`, met),
  ]);
}

function properties(owner: object, keys: readonly string[], at: string, met: Met): Json {
  // Without a prototype, so that `__proto__` is a key like any other.
  const converted = Object.create(null) as Record<string, Json>;
  for (const key of keys) converted[key] = convert(Reflect.get(owner, key), `${at}/${escaped(key)}`, met);
  return converted;
}

function errorKeys(error: Error): readonly string[] {
  return [...new Set(["name", "message", ...Object.getOwnPropertyNames(error)])];
}

function bytesOf(value: object): Buffer | undefined {
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return types.isAnyArrayBuffer(value) ? Buffer.from(value) : undefined;
}

function bytesType(value: object): string {
  return Buffer.isBuffer(value) ? "Buffer" : String(Reflect.get(value, Symbol.toStringTag));
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
