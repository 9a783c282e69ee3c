// Rewriting: a wire with some of its texts, numbers and bytes exchanged. What holds objects stays where it was, so references
// go on meaning the same objects; a wire in which nothing is exchanged is given back as it is. NaN is the same as NaN.

import { bigintOf, Kind, Special, type SpecialParts, textOf, type Wire, type WireObject } from "./special.js";

interface RewriteParts {
  /** What stands in place of a text; the text itself to leave it. */
  text(text: string): Wire;
  /** The same for a key, which has to be text again. */
  key(key: string): string;
  number(value: number | bigint): Wire;
  /** Bytes of the same length. */
  bytes(bytes: Uint8Array): Uint8Array;
}

export function rewriteWire(wire: Wire, parts: RewriteParts): Wire {
  switch (typeof wire) {
    case "string":
      return parts.text(wire);
    case "number":
    case "bigint":
      return parts.number(wire);
    case "object":
      if (wire === null) return wire;
      if (Array.isArray(wire)) return rewriteItems(wire as readonly Wire[], 0, parts);
      if (wire instanceof Special) return rewriteSpecial(wire, parts);
      if (wire instanceof Uint8Array) return parts.bytes(wire);
      return rewriteObject(wire as WireObject, parts);
    default:
      return wire;
  }
}

function rewriteItems<T extends readonly Wire[]>(items: T, from: number, parts: RewriteParts): T {
  let changed: Wire[] | undefined;
  for (let index = from; index < items.length; index++) {
    const item = rewriteWire(items[index], parts);
    if (!Object.is(item, items[index])) (changed ??= [...items])[index] = item;
  }
  return (changed ?? items) as T;
}

function rewriteObject(object: WireObject, parts: RewriteParts): WireObject {
  let isSame = true;
  const entries = Object.entries(object).map(([key, value]) => {
    const entry = [parts.key(key), rewriteWire(value, parts)] as const;
    isSame &&= entry[0] === key && Object.is(entry[1], value);
    return entry;
  });
  return isSame ? object : Object.fromEntries(entries);
}

function rewriteSpecial(special: Special, parts: RewriteParts): Wire {
  if (special.parts[0] === Kind.text) {
    const text = textOf(special);
    const rewritten = parts.text(text);
    return rewritten === text ? special : rewritten;
  }
  if (special.parts[0] === Kind.bigint) {
    const value = bigintOf(special.parts[1]);
    const rewritten = parts.number(value);
    return rewritten === value ? special : rewritten;
  }
  const changed = rewriteParts(special.parts, parts);
  return changed === special.parts ? special : new Special(changed);
}

function rewriteParts(special: SpecialParts, parts: RewriteParts): SpecialParts {
  switch (special[0]) {
    case Kind.negativeZero:
    case Kind.bigint:
    case Kind.text:
    case Kind.ref:
    case Kind.date:
    case Kind.regexp:
    case Kind.sealed:
      return special;
    case Kind.graph:
    case Kind.map:
    case Kind.set:
      return rewriteItems(special, 1, parts);
    case Kind.typedArray:
      return rewriteBytes(special, 2, parts);
    case Kind.arrayBuffer:
    case Kind.dataView:
      return rewriteBytes(special, 1, parts);
    case Kind.array:
      return rewriteEntries(special, 2, parts);
    case Kind.object:
    case Kind.nullObject:
      return rewriteEntries(special, 1, parts);
    case Kind.error:
      return rewriteEntries(special, 3, parts);
  }
}

function rewriteBytes<T extends SpecialParts>(special: T, at: number, parts: RewriteParts): T {
  const bytes = special[at] as Uint8Array;
  const rewritten = parts.bytes(bytes);
  if (rewritten === bytes) return special;
  return special.map((part, index) => (index === at ? rewritten : part)) as unknown as T;
}

/** `key, value, key, value`. An index of an array is no key to rewrite. */
function rewriteEntries<T extends SpecialParts>(special: T, from: number, parts: RewriteParts): T {
  const isKey = (index: number): boolean => (index - from) % 2 === 0;
  const before = special as readonly Wire[];
  const rewritten = before.map((part, index): Wire => {
    if (index < from) return part;
    if (!isKey(index)) return rewriteWire(part, parts);
    return typeof part === "string" ? parts.key(part) : part;
  });
  const isSame = rewritten.every((part, index) => Object.is(part, before[index]));
  return isSame ? special : (rewritten as unknown as T);
}
