// Wire: the shape every value has between the flow and the log, and `Special`, what JSON-like data has no word for.
//
// A wire is a tree of fresh data that nobody outside the kernel holds a reference to. Plain data stands for itself;
// a `Uint8Array` stands for a Buffer, a bigint beyond 2^53 for itself; everything else is a `Special`.

/**
 * What a `Special` stands for. The numbers are the format: they are written into logs, so none is changed or reused.
 */
export const Kind = {
  negativeZero: 0,
  /** A bigint that msgpack would give back as a number, or has no room for. */
  bigint: 1,
  /** A string with a surrogate that has no partner: UTF-8 cannot hold it. */
  text: 2,
  /** An object met before in the same graph, by the order in which the walk first met it. */
  ref: 3,
  /** The root of a value that has references in it. Values without any pay nothing for them. */
  graph: 4,
  date: 5,
  regexp: 6,
  map: 7,
  set: 8,
  /** An array with holes or with named properties. */
  array: 9,
  /** A plain object with a key that msgpack cannot carry: `__proto__`, or one that is not well-formed. */
  object: 10,
  nullObject: 11,
  typedArray: 12,
  arrayBuffer: 13,
  dataView: 14,
  error: 15,
  /** A value only holders of a key can read; readers without it see its label (docs/secrets.md). */
  sealed: 16,
} as const;

/** The payload of each kind, with the kind itself in front: the array is written to the log as it stands. */
export type SpecialParts =
  | readonly [typeof Kind.negativeZero]
  | readonly [typeof Kind.bigint, hex: string]
  | readonly [typeof Kind.text, utf16: Uint8Array]
  | readonly [typeof Kind.ref, index: number]
  | readonly [typeof Kind.graph, root: Wire]
  | readonly [typeof Kind.date, epochMs: number]
  | readonly [typeof Kind.regexp, source: Wire, flags: string, lastIndex: number]
  | readonly [typeof Kind.map, ...keysAndValues: Wire[]]
  | readonly [typeof Kind.set, ...values: Wire[]]
  | readonly [typeof Kind.array, length: number, ...keysAndValues: Wire[]]
  | readonly [typeof Kind.object, ...keysAndValues: Wire[]]
  | readonly [typeof Kind.nullObject, ...keysAndValues: Wire[]]
  | readonly [typeof Kind.typedArray, type: number, bytes: Uint8Array]
  | readonly [typeof Kind.arrayBuffer, bytes: Uint8Array]
  | readonly [typeof Kind.dataView, bytes: Uint8Array]
  | readonly [typeof Kind.error, className: string, hiddenCount: number, ...keysAndValues: Wire[]]
  | SealedParts;

/** `label`: a position in SEAL_LABELS. `keyId`: which key of the ring. `bytes`: as the vault made them. */
export type SealedParts = readonly [typeof Kind.sealed, label: number, keyId: string, bytes: Uint8Array];

/** What a marked value is called where it may not be read. Positions are written into logs: append only. */
export const SEAL_LABELS = ["sensitive", "internal"] as const;
export type SealLabel = (typeof SEAL_LABELS)[number];

/** What readers see in place of a value that is not for them. */
export function placeholder(label: string): string {
  return `[${label}]`;
}

export class Special {
  readonly parts: SpecialParts;

  constructor(parts: SpecialParts) {
    this.parts = parts;
  }
}

export interface WireObject {
  readonly [key: string]: Wire;
}

export type Wire =
  | undefined
  | null
  | boolean
  | number
  | string
  | bigint
  | readonly Wire[]
  | WireObject
  | Uint8Array
  | Special;

export function isText(wire: Wire): wire is string | Special {
  return typeof wire === "string" || (wire instanceof Special && wire.parts[0] === Kind.text);
}

/** The string that a text stands for. */
export function textOf(wire: string | Special): string {
  if (typeof wire === "string") return wire;
  const utf16 = wire.parts[1] as Uint8Array;
  return Buffer.from(utf16.buffer, utf16.byteOffset, utf16.byteLength).toString("utf16le");
}

/** The bigint that its hexadecimal digits stand for. */
export function bigintOf(hex: string): bigint {
  return hex.startsWith("-") ? -BigInt(`0x${hex.slice(1)}`) : BigInt(`0x${hex}`);
}

/** A sealed value on its way into the log: `toWire` takes it as it is. Not numbered as objects are, for it hides what it is. */
export class Sealed {
  readonly special: Special;

  constructor(parts: SealedParts) {
    this.special = new Special(parts);
  }
}

/** Shared by every value that holds one: a `Special` is never changed. */
export const NEGATIVE_ZERO = new Special([Kind.negativeZero]);

/** The position of a constructor in this list is written into logs: append only. */
export const TYPED_ARRAYS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
] as const;

/**
 * The error classes that come back as themselves; a subclass comes back as the nearest of these, with its name. Only a
 * DOMException takes its message and name from its constructor, the codec sets the fields of all others.
 */
export const ERROR_CLASSES: ReadonlyMap<string, (message: string, name: string) => Error> = new Map<
  string,
  (message: string, name: string) => Error
>([
  ["Error", () => new Error()],
  ["EvalError", () => new EvalError()],
  ["RangeError", () => new RangeError()],
  ["ReferenceError", () => new ReferenceError()],
  ["SyntaxError", () => new SyntaxError()],
  ["TypeError", () => new TypeError()],
  ["URIError", () => new URIError()],
  ["AggregateError", () => new AggregateError([])],
  ["DOMException", (message, name) => new DOMException(message, name)],
]);
