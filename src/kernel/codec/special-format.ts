// The form of a `Special` in the log, checked once when a record is decoded, so that everything behind that door may
// rely on the types.

import {
  ERROR_CLASSES,
  isText,
  Kind,
  SEAL_LABELS,
  Special,
  type SpecialParts,
  TYPED_ARRAYS,
  type Wire,
} from "./special.js";

/** The extension type of a `Special` in msgpack: "h". Written into logs. */
export const SPECIAL_TYPE = 0x68;

/** The `Special` that decoded parts make up. Throws when they make up none. */
export function specialFrom(parts: unknown): Special {
  if (!isParts(parts)) throw new Error("it has a value of unknown form");
  return new Special(parts);
}

function isParts(parts: unknown): parts is SpecialParts {
  if (!Array.isArray(parts)) return false;
  const kind = parts[0] as unknown;
  const hasForm = typeof kind === "number" ? FORMS[kind as SpecialParts[0]] : undefined;
  return hasForm?.(parts as readonly Wire[]) ?? false;
}

/** One rule a kind. `parts[0]` is the kind. */
const FORMS: Readonly<Record<SpecialParts[0], (parts: readonly Wire[]) => boolean>> = {
  [Kind.negativeZero]: ({ length }) => length === 1,
  [Kind.bigint]: ({ length, 1: hex }) => length === 2 && typeof hex === "string" && /^-?[0-9a-f]+$/.test(hex),
  [Kind.text]: ({ length, 1: utf16 }) =>
    length === 2 && utf16 instanceof Uint8Array && utf16.length % 2 === 0,
  [Kind.ref]: ({ length, 1: index }) => length === 2 && isCount(index),
  [Kind.graph]: ({ length }) => length === 2,
  [Kind.date]: ({ length, 1: epochMs }) => length === 2 && typeof epochMs === "number",
  [Kind.regexp]: ({ length, 1: source, 2: flags, 3: lastIndex }) =>
    length === 4 && isText(source) && typeof flags === "string" && typeof lastIndex === "number",
  [Kind.map]: ({ length }) => length % 2 === 1,
  [Kind.set]: () => true,
  [Kind.array]: (parts) => {
    const { 1: length } = parts;
    if (!isCount(length) || length >= 2 ** 32) return false;
    const isKey = (key: Wire): boolean =>
      typeof key === "number" ? isCount(key) && key < length : isText(key);
    return hasKeys(parts, 2, (key) => isKey(key) && key !== "length");
  },
  [Kind.object]: (parts) => hasKeys(parts, 1, isText),
  [Kind.nullObject]: (parts) => hasKeys(parts, 1, isText),
  [Kind.typedArray]: ({ length, 1: type, 2: bytes }) => {
    const known = typeof type === "number" ? TYPED_ARRAYS[type] : undefined;
    return length === 3 && known !== undefined && hasWhole(bytes, known.BYTES_PER_ELEMENT);
  },
  [Kind.arrayBuffer]: ({ length, 1: bytes }) => length === 2 && hasWhole(bytes, 1),
  [Kind.dataView]: ({ length, 1: bytes }) => length === 2 && hasWhole(bytes, 1),
  [Kind.error]: (parts) => {
    const { 1: className, 2: hiddenCount } = parts;
    if (typeof className !== "string" || !ERROR_CLASSES.has(className) || !isCount(hiddenCount)) return false;
    return hasKeys(parts, 3, isText) && hiddenCount <= (parts.length - 3) / 2;
  },
  [Kind.sealed]: ({ length, 1: label, 2: keyId, 3: bytes }) =>
    length === 4 &&
    isCount(label) &&
    label < SEAL_LABELS.length &&
    typeof keyId === "string" &&
    bytes instanceof Uint8Array,
};

function isCount(value: Wire): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function hasWhole(bytes: Wire, elementBytes: number): boolean {
  return bytes instanceof Uint8Array && bytes.length % elementBytes === 0;
}

function hasKeys(parts: readonly Wire[], from: number, isKey: (key: Wire) => boolean): boolean {
  if (parts.length < from || (parts.length - from) % 2 !== 0) return false;
  for (let index = from; index < parts.length; index += 2) if (!isKey(parts[index])) return false;
  return true;
}
