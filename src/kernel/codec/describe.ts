// Short words for any value, for lists, command lines and messages.
//
// Bounded in depth, breadth and length, and safe on values nobody has checked: getters and proxies are not run.

import { types } from "node:util";
import { kindInWords } from "./refusal.js";
import { shortened } from "./text.js";

const DEPTH_MAX = 3;
const BREADTH_MAX = 8;
const TEXT_CHARS_MAX = 60;
const BYTES_SHOWN = 8;

/** Any value in at most `charsMax` characters and on one line. Never throws. */
export function describeValue(value: unknown, charsMax = 80): string {
  let text: string;
  try {
    text = render(value, []);
  } catch {
    text = "[a value that cannot be shown]";
  }
  return shortened(text.replaceAll(/\s+/g, " "), charsMax);
}

function render(value: unknown, ancestors: readonly object[]): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(shortened(value, TEXT_CHARS_MAX));
    case "bigint":
      return `${shortened(value.toString(), TEXT_CHARS_MAX)}n`;
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "undefined":
    case "boolean":
      return String(value);
    case "function":
    case "symbol":
      return `[${kindInWords(value)}]`;
    case "object":
      if (value === null) return "null";
      if (types.isProxy(value)) return `[${kindInWords(value)}]`;
      return ancestors.includes(value) ? "[circular]" : renderObject(value, ancestors);
  }
}

function renderObject(value: object, ancestors: readonly object[]): string {
  const leaf = renderLeaf(value);
  if (leaf !== undefined) return leaf;
  const inside = [...ancestors, value];
  const isShallow = inside.length <= DEPTH_MAX;
  if (Array.isArray(value)) {
    if (!isShallow) return `[array of ${value.length}]`;
    return list("[", value.length, indexes(value.length), (index) => property(value, index, inside), "]");
  }
  if (types.isMap(value)) {
    if (!isShallow) return `Map(${value.size})`;
    const entry = ([key, item]: [unknown, unknown]): string =>
      `${render(key, inside)} => ${render(item, inside)}`;
    return list(`Map(${value.size}) {`, value.size, Map.prototype.entries.call(value), entry, "}");
  }
  if (types.isSet(value)) {
    if (!isShallow) return `Set(${value.size})`;
    return list(
      `Set(${value.size}) {`,
      value.size,
      Set.prototype.values.call(value),
      (item) => render(item, inside),
      "}",
    );
  }
  if (!isPlain(value)) return `[${kindInWords(value)}]`;
  const keys = Object.keys(value);
  if (!isShallow && keys.length > 0) return "{…}";
  return list("{", keys.length, keys, (key) => `${keyText(key)}: ${property(value, key, inside)}`, "}");
}

function renderLeaf(value: object): string | undefined {
  if (types.isDate(value)) {
    const epochMs = Date.prototype.getTime.call(value);
    return Number.isNaN(epochMs) ? "Invalid Date" : new Date(epochMs).toISOString();
  }
  if (types.isRegExp(value)) return shortened(RegExp.prototype.toString.call(value), TEXT_CHARS_MAX);
  if (types.isNativeError(value) || value instanceof Error)
    return shortened(`${value.name}: ${value.message}`, 200);
  if (types.isAnyArrayBuffer(value)) return `<${kindOfBytes(value)} ${bytesText(new Uint8Array(value))}>`;
  if (ArrayBuffer.isView(value)) {
    return `<${kindOfBytes(value)} ${bytesText(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))}>`;
  }
  return undefined;
}

function kindOfBytes(value: object): string {
  if (Buffer.isBuffer(value)) return "Buffer";
  return String(Reflect.get(value, Symbol.toStringTag));
}

function bytesText(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, BYTES_SHOWN)).toString("hex");
  return `${bytes.length} bytes${start && ": "}${start}${bytes.length > BYTES_SHOWN ? "…" : ""}`;
}

function list<T>(
  open: string,
  size: number,
  items: Iterable<T>,
  word: (item: T) => string,
  close: string,
): string {
  if (size === 0) return open + close;
  const words: string[] = [];
  for (const item of items) {
    if (words.length === BREADTH_MAX) {
      words.push(`… ${size - BREADTH_MAX} more`);
      break;
    }
    words.push(word(item));
  }
  return `${open} ${words.join(", ")} ${close}`;
}

function property(owner: object, key: PropertyKey, inside: readonly object[]): string {
  const descriptor = Object.getOwnPropertyDescriptor(owner, key);
  if (descriptor === undefined) return "[hole]";
  return descriptor.get === undefined ? render(descriptor.value, inside) : "[getter]";
}

/** An object without a class, of whatever realm. */
export function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const proto = Object.getPrototypeOf(value) as object | null;
  return proto === null || Object.getPrototypeOf(proto) === null;
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(shortened(key));
}

function* indexes(length: number): Generator<number> {
  for (let index = 0; index < length; index++) yield index;
}
