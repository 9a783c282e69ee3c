// Arbitrary values of the table in docs/values.md, for the property tests of the codec.

import fc from "fast-check";

/** Any sequence of UTF-16 units: lone surrogates are frequent. */
const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc
    .array(fc.integer({ min: 0xd700, max: 0xe0ff }), { maxLength: 50 })
    .map((units) => String.fromCharCode(...units)),
);

const anyKey = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toJSON",
    "hasOwnProperty",
    "length",
    "",
    "0",
    "17",
    "-1",
  ),
  anyText,
);

const anyNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(
    0,
    -0,
    Number.NaN,
    Infinity,
    -Infinity,
    2 ** 53,
    2 ** 53 + 2,
    2 ** 63,
    -(2 ** 64),
    2 ** 31,
    2 ** 32,
  ),
);

const anyBigint = fc.oneof(
  fc.bigInt(),
  fc.constantFrom(0n, -1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n), -(2n ** 53n) - 1n),
  fc.constantFrom(
    2n ** 63n,
    -(2n ** 63n),
    -(2n ** 63n) - 1n,
    2n ** 64n - 1n,
    2n ** 64n,
    3n ** 4000n,
    -(3n ** 4000n),
  ),
);

const bytes = fc.uint8Array({ maxLength: 40 });

const anyBytes = fc.oneof(
  bytes.map((array) => Buffer.from(array)),
  bytes.map((array) => array.slice().buffer),
  bytes.map((array) => new DataView(array.slice().buffer)),
  fc.int8Array(),
  fc.uint8Array(),
  fc.uint8ClampedArray(),
  fc.int16Array(),
  fc.uint16Array(),
  fc.int32Array(),
  fc.uint32Array(),
  fc.float32Array(),
  fc.float64Array(),
  fc.bigInt64Array(),
  fc.bigUint64Array(),
);

const anyRegExp = fc
  .tuple(
    fc.constantFrom("a/b", "(?<year>\\d+)", "", "[\\]/]", "\u{1f600}"),
    fc.constantFrom("", "g", "giu", "sy"),
    fc.nat(9),
  )
  .map(([source, flags, lastIndex]) => Object.assign(new RegExp(source, flags), { lastIndex }));

/** Not invalid ones: `deepStrictEqual` finds no two of them equal. */
const anyDate = fc.date({ noInvalidDate: true });

const leaf: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: anyText },
  { weight: 3, arbitrary: anyNumber },
  fc.constantFrom(undefined, null, true, false),
  anyBigint,
  anyDate,
  anyRegExp,
  anyBytes,
);

/** Defines instead of assigning, so that `__proto__` becomes a property like any other. */
export function withProperties<T extends object>(
  target: T,
  entries: readonly (readonly [string, unknown])[],
): T {
  for (const [key, value] of entries) {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return target;
}

const errorClass = fc.constantFrom(
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
);

/** A property an error already has must not be redefined: the table is about what programs can make. */
const isFree = ([key]: readonly [string, unknown]): boolean =>
  !["stack", "errors", "cause", "message", "name"].includes(key);

const { tree } = fc.letrec<{ tree: unknown; entries: [string, unknown][] }>((tie) => ({
  entries: fc.array(fc.tuple(anyKey, tie("tree")), { maxLength: 5 }),
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: leaf },
    { weight: 2, arbitrary: fc.array(tie("tree"), { maxLength: 5 }) },
    { weight: 3, arbitrary: tie("entries").map((entries) => withProperties({}, entries)) },
    tie("entries").map((entries) => withProperties(Object.create(null) as object, entries)),
    fc.array(fc.tuple(tie("tree"), tie("tree")), { maxLength: 4 }).map((entries) => new Map(entries)),
    fc.array(tie("tree"), { maxLength: 4 }).map((items) => new Set(items)),
    fc.sparseArray(tie("tree"), { maxLength: 100, maxNumElements: 4 }),
    fc.tuple(fc.array(tie("tree"), { maxLength: 3 }), tie("entries")).map(([items, entries]) =>
      withProperties(
        items,
        entries.filter(([key]) => key !== "length" && !/^\d+$/.test(key)),
      ),
    ),
    fc
      .tuple(errorClass, fc.string(), tie("tree"), tie("entries"))
      .map(([Class, message, cause, entries]) =>
        withProperties(new Class(message, { cause }), entries.filter(isFree)),
      ),
    fc
      .tuple(fc.array(tie("tree"), { maxLength: 3 }), fc.string(), tie("entries"))
      .map(([errors, message, entries]) =>
        withProperties(new AggregateError(errors, message), entries.filter(isFree)),
      ),
  ),
}));

/** Any value of the table without references in it. */
export const anyTree: fc.Arbitrary<unknown> = tree;

/** Values in which one object lies in several places, or in itself. */
export const anyGraph: fc.Arbitrary<unknown> = fc.tuple(tree, tree, fc.nat(4)).map(([one, other, shape]) => {
  switch (shape) {
    case 0:
      return { first: one, list: [other, one, { again: one }], other };
    case 1: {
      const circle: Record<string, unknown> = { one, twice: other };
      circle["self"] = circle;
      return [circle, other, circle];
    }
    case 2: {
      const map = new Map<unknown, unknown>([["one", one]]);
      map.set(map, new Set([other, one, map]));
      return map;
    }
    case 3: {
      const error = new TypeError("in a circle", { cause: { one } });
      return Object.assign(error, { self: error, one, other: [other, other] });
    }
    default: {
      const sparse: unknown[] = [];
      sparse[3] = sparse;
      sparse[7] = one;
      return { sparse, one, twin: Object.assign(Object.create(null) as object, { one, sparse }) };
    }
  }
});

export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: anyTree },
  { weight: 1, arbitrary: anyGraph },
);

/** Changes everything that can be changed in a value, wherever it lies. */
export function spoil(value: unknown, done = new Set<object>()): void {
  if (typeof value !== "object" || value === null || done.has(value)) return;
  done.add(value);
  if (value instanceof Map)
    for (const entry of [...(value as Map<unknown, unknown>)].flat()) spoil(entry, done);
  if (value instanceof Set) for (const item of value) spoil(item, done);
  if (value instanceof ArrayBuffer) new Uint8Array(value).fill(0xa5);
  if (ArrayBuffer.isView(value)) {
    new Uint8Array(value.buffer, value.byteOffset, value.byteLength).fill(0xa5);
    return;
  }
  for (const key of Reflect.ownKeys(value)) spoil(Reflect.get(value, key), done);
  if (value instanceof Map || value instanceof Set) value.clear();
  if (value instanceof Date) value.setTime(1);
  if (value instanceof RegExp) value.lastIndex = 99;
  if (Array.isArray(value)) value.length = 0;
  for (const key of Object.keys(value)) Reflect.deleteProperty(value, key);
  Reflect.set(value, "spoiled", true);
}
