// From wire to value: a fresh deep copy, so that whatever a flow does to it stays its own business.
//
// F1  The wire is left as it is: it may still be waiting for its commit, or be read again.
// F2  Objects are numbered in the order to-wire.ts met them, each before its parts, so that cycles find their target.

import { HeddleError } from "../errors.js";
import {
  bigintOf,
  ERROR_CLASSES,
  isText,
  Kind,
  placeholder,
  SEAL_LABELS,
  type SealedParts,
  Special,
  type SpecialParts,
  TYPED_ARRAYS,
  textOf,
  type Wire,
  type WireObject,
} from "./special.js";
import { shortened } from "./text.js";

/** The objects of a graph built so far, by number. Values without references have none. */
type Built = unknown[] | undefined;

/** What stands for a sealed value: for those who may not read it, its label. */
export type Unseal = (sealed: SealedParts) => unknown;

const concealed: Unseal = ([, label]) => placeholder(SEAL_LABELS[label] ?? "sealed");

/** `unseal` is called for each sealed value in the wire, and may throw. Default: its label in brackets stands for it. */
export function fromWire(wire: Wire, unseal = concealed): unknown {
  return typeof wire === "object" && wire !== null ? rebuilt(wire, undefined, unseal) : wire;
}

type WireNode = Exclude<Wire, undefined | null | boolean | number | string | bigint>;

function part(wire: Wire, built: Built, unseal: Unseal): unknown {
  return typeof wire === "object" && wire !== null ? rebuilt(wire, built, unseal) : wire;
}

/** The objects of a graph by their numbers. */
export function graphObjects(root: Wire): readonly unknown[] {
  const built: unknown[] = [];
  part(root, built, concealed);
  return built;
}

function rebuilt(wire: WireNode, built: Built, unseal: Unseal): unknown {
  if (Array.isArray(wire)) return rebuiltArray(wire as readonly Wire[], built, unseal);
  if (wire instanceof Special) return rebuiltSpecial(wire, built, unseal);
  if (wire instanceof Uint8Array) return met(Buffer.from(exactCopy(wire).buffer), built);
  return rebuiltPlain(wire as WireObject, built, unseal);
}

function rebuiltPlain(wire: WireObject, built: Built, unseal: Unseal): unknown {
  const copy: Record<string, unknown> = { ...wire };
  built?.push(copy);
  const keys = Object.keys(copy);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const child = copy[key];
    if (typeof child === "object" && child !== null) copy[key] = rebuilt(child as WireNode, built, unseal);
  }
  return copy;
}

function rebuiltArray(wire: readonly Wire[], built: Built, unseal: Unseal): unknown {
  const copy: unknown[] = wire.slice();
  built?.push(copy);
  for (let index = 0; index < copy.length; index++) {
    const child = copy[index];
    if (typeof child === "object" && child !== null) copy[index] = rebuilt(child as WireNode, built, unseal);
  }
  return copy;
}

function rebuiltSpecial(special: Special, built: Built, unseal: Unseal): unknown {
  const { parts } = special;
  switch (parts[0]) {
    case Kind.negativeZero:
      return -0;
    case Kind.bigint:
      return bigintOf(parts[1]);
    case Kind.text:
      return textOf(special);
    case Kind.ref:
      return referenced(parts[1], built);
    case Kind.graph:
      return part(parts[1], [], unseal);
    case Kind.date:
      return met(new Date(parts[1]), built);
    case Kind.regexp: {
      const regexp = regexpOf(keyOf(parts[1]), parts[2]);
      regexp.lastIndex = parts[3];
      return met(regexp, built);
    }
    case Kind.map: {
      const map = met(new Map<unknown, unknown>(), built);
      for (let index = 1; index < parts.length; index += 2) {
        // The key is built first, as it was walked first.
        const key = part(parts[index], built, unseal);
        map.set(key, part(parts[index + 1], built, unseal));
      }
      return map;
    }
    case Kind.set: {
      const set = met(new Set<unknown>(), built);
      for (let index = 1; index < parts.length; index++) set.add(part(parts[index], built, unseal));
      return set;
    }
    case Kind.array:
      return withEntries(met(emptyArray(parts[1]), built), parts, 2, built, unseal);
    case Kind.object:
      return withEntries(met({}, built), parts, 1, built, unseal);
    case Kind.nullObject:
      return withEntries(met(Object.create(null) as object, built), parts, 1, built, unseal);
    case Kind.typedArray: {
      const TypedArray = TYPED_ARRAYS[parts[1]];
      if (TypedArray === undefined) throw unreadable(`there is no typed array number ${parts[1]}`);
      return met(new TypedArray(exactCopy(parts[2]).buffer), built);
    }
    case Kind.arrayBuffer:
      return met(exactCopy(parts[1]).buffer, built);
    case Kind.dataView:
      return met(new DataView(exactCopy(parts[1]).buffer), built);
    case Kind.error:
      return rebuiltError(parts, built, unseal);
    case Kind.sealed:
      return unseal(parts);
  }
}

function regexpOf(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw unreadable(`this runtime does not understand the pattern /${shortened(source)}/${flags}`, error);
  }
}

/** F2: gives an object its number. */
function met<T extends object>(object: T, built: Built): T {
  built?.push(object);
  return object;
}

function referenced(index: number, built: Built): unknown {
  if (built === undefined || !(index in built))
    throw unreadable(`it refers to object ${index}, which is not in it`);
  return built[index];
}

function withEntries(
  target: object,
  parts: readonly Wire[],
  from: number,
  built: Built,
  unseal: Unseal,
): object {
  for (let index = from; index < parts.length; index += 2) {
    define(target, keyOf(parts[index]), part(parts[index + 1], built, unseal), true);
  }
  return target;
}

function rebuiltError(
  parts: Extract<SpecialParts, readonly [typeof Kind.error, ...unknown[]]>,
  built: Built,
  unseal: Unseal,
): Error {
  const [, className, hiddenCount] = parts;
  const entries: readonly Wire[] = parts.slice(3);
  const isFixed = className === "DOMException";
  const create = ERROR_CLASSES.get(className);
  if (create === undefined) throw unreadable(`there is no error class ${className}`);
  const error = met(create(textEntry(entries, "message"), textEntry(entries, "name")), built);
  // The stack of this very line says nothing about the error.
  Reflect.deleteProperty(error, "stack");
  for (let index = 0; index < entries.length; index += 2) {
    const key = keyOf(entries[index]);
    const value = part(entries[index + 1], built, unseal);
    const isHidden = index < hiddenCount * 2;
    // A DOMException keeps these two where nobody can set them; its constructor has.
    if (isFixed && isHidden && (key === "name" || key === "message")) continue;
    define(error, key, value, !isHidden);
  }
  return error;
}

function textEntry(entries: readonly Wire[], name: string): string {
  for (let index = 0; index < entries.length; index += 2) {
    const value = entries[index + 1];
    if (entries[index] === name && isText(value)) return textOf(value);
  }
  return "";
}

/** Never an assignment, which would run the setter of `__proto__`. */
function define(target: object, key: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(target, key, { value, enumerable, writable: true, configurable: true });
}

/** A key, in a place where nothing but text or an index stands: to-wire.ts and special-format.ts see to that. */
function keyOf(wire: Wire): string {
  if (typeof wire === "number") return String(wire);
  return isText(wire) ? textOf(wire) : "";
}

/** Bytes in memory of their own, at its start: no pool and no page of the database lies behind them. */
function exactCopy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

const ARRAY_LENGTH_MAX = 2 ** 32 - 1;

function emptyArray(length: number): unknown[] {
  const array: unknown[] = [];
  // Going through the greatest length makes the engine keep the elements in a table. Asked for thirty million holes
  // directly, it would set aside 240 MB for them, and a record of ten bytes could ask for that.
  if (length > 1000) array.length = ARRAY_LENGTH_MAX;
  array.length = length;
  return array;
}

function unreadable(reason: string, cause?: unknown): HeddleError {
  const message = `A recorded value cannot be rebuilt: ${reason}. The log may be damaged.`;
  return new HeddleError("RECORD_UNREADABLE", message, cause === undefined ? {} : { cause });
}
