// The built-in classes on their way into the log, one function a family.

import { types } from "node:util";
import { errorParts } from "./error-parts.js";
import { Kind, Special, type SpecialParts, TYPED_ARRAYS, type Wire } from "./special.js";
import type { Walk } from "./walk.js";

/** The wire of an object that is neither plain nor an array. Refuses classes other than the built-in ones. */
export function builtIn(walk: Walk, value: object): Wire {
  if (Object.getPrototypeOf(value) === null && !types.isModuleNamespaceObject(value)) {
    const parts: [typeof Kind.nullObject, ...Wire[]] = [Kind.nullObject];
    walk.spend(6);
    walk.entries(value, parts);
    return new Special(parts);
  }
  if (types.isNativeError(value) || value instanceof Error) return new Special(errorParts(walk, value));
  if (ArrayBuffer.isView(value)) return viewWire(walk, value);
  const parts = partsOf(walk, value);
  if (parts === undefined) throw walk.refuse(value);
  return new Special(parts);
}

/**
 * Whether a value is an instance of the built-in class itself and not of a subclass. The class is told by its name and
 * by how many prototypes lie above its own, not by identity: values made in another realm (a `vm` context, as some
 * test runners use) are as good as ours, and a subclass of the same name lies one deeper.
 */
export function isOfClass(value: object, name: string, depth = 1): boolean {
  const proto = Object.getPrototypeOf(value) as object;
  const constructor: unknown = Object.getOwnPropertyDescriptor(proto, "constructor")?.value;
  if (typeof constructor !== "function" || constructor.name !== name) return false;
  let above = parentOf(proto);
  for (let level = 0; level < depth; level++) above = above === null ? proto : parentOf(above);
  return above === null;
}

function parentOf(proto: object): object | null {
  return Object.getPrototypeOf(proto) as object | null;
}

function partsOf(walk: Walk, value: object): SpecialParts | undefined {
  if (types.isDate(value) && isOfClass(value, "Date")) {
    refuseOwnProperties(walk, value, "Date");
    walk.spend(13);
    return [Kind.date, value.getTime()];
  }
  if (types.isMap(value) && isOfClass(value, "Map")) return mapParts(walk, value);
  if (types.isSet(value) && isOfClass(value, "Set")) return setParts(walk, value);
  if (types.isRegExp(value) && isOfClass(value, "RegExp")) {
    refuseOwnProperties(walk, value, "RegExp");
    walk.spend(16);
    return [Kind.regexp, walk.text(value.source), value.flags, value.lastIndex];
  }
  if (types.isArrayBuffer(value) && isOfClass(value, "ArrayBuffer")) {
    refuseOwnProperties(walk, value, "ArrayBuffer");
    return [Kind.arrayBuffer, bytesOf(walk, value, value, 0, value.byteLength)];
  }
  return undefined;
}

function mapParts(walk: Walk, map: ReadonlyMap<unknown, unknown>): SpecialParts {
  refuseOwnProperties(walk, map, "Map");
  walk.spend(8);
  walk.enter();
  const parts: [typeof Kind.map, ...Wire[]] = [Kind.map];
  let index = 0;
  for (const [key, item] of map) {
    parts.push(walk.copyPart({ mapKey: index }, key), walk.copyPart({ mapItem: key, index }, item));
    index += 1;
  }
  walk.leave();
  return parts;
}

function setParts(walk: Walk, set: ReadonlySet<unknown>): SpecialParts {
  refuseOwnProperties(walk, set, "Set");
  walk.spend(8);
  walk.enter();
  const parts: [typeof Kind.set, ...Wire[]] = [Kind.set];
  let setItem = 0;
  for (const item of set) parts.push(walk.copyPart({ setItem: setItem++ }, item));
  walk.leave();
  return parts;
}

function viewWire(walk: Walk, view: ArrayBufferView): Wire {
  // Own properties of byte arrays are not looked for: libraries hang caches on them, and listing their keys lists
  // every byte.
  const copy = (): Uint8Array => bytesOf(walk, view, view.buffer, view.byteOffset, view.byteLength);
  if (Object.getPrototypeOf(view) === Buffer.prototype) return copy();
  if (types.isDataView(view)) {
    if (!isOfClass(view, "DataView")) throw walk.refuse(view);
    return new Special([Kind.dataView, copy()]);
  }
  const name = types.isTypedArray(view) ? view[Symbol.toStringTag] : undefined;
  const type = TYPED_ARRAYS.findIndex((known) => known.name === name);
  if (name === undefined || type < 0 || !isOfClass(view, name, 2)) throw walk.refuse(view);
  return new Special([Kind.typedArray, type, copy()]);
}

/**
 * A copy of the bytes a view shows, and of no others: a small Buffer lies in a pool of 8 kB. The copy is never made by
 * transfer, which would take the caller's bytes away, and with them those of everybody else in the pool.
 */
function bytesOf(
  walk: Walk,
  value: object,
  buffer: ArrayBufferLike,
  start: number,
  length: number,
): Uint8Array {
  if (types.isSharedArrayBuffer(buffer)) {
    throw walk.refuse(
      value,
      "memory shared between threads",
      "Copy it, for example with slice(), and record the copy.",
    );
  }
  if (length === 0 && isDetached(buffer)) {
    throw walk.refuse(
      value,
      "bytes whose buffer was transferred away",
      "Record them before transferring the buffer.",
    );
  }
  walk.spend(length + 8);
  return new Uint8Array(buffer, start, length).slice();
}

function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    return new Uint8Array(buffer).length !== buffer.byteLength;
  } catch {
    return true;
  }
}

function refuseOwnProperties(walk: Walk, value: object, name: string): void {
  const [key] = Object.keys(value);
  if (key === undefined) return;
  throw walk.refuse(value, `a ${name} with a property of its own (${key})`, "Record the property beside it.");
}
