import type { PathSegment } from "./refusal.js";
import { isText, Kind, type SpecialParts, textOf, type Wire } from "./special.js";

/** The parts of a `Special` as a comparison sees them. */
export interface Layout {
  /** What has no name of its own: a length, a class, bytes. */
  readonly head: readonly Wire[];
  /** What has a place in an order. */
  readonly items: readonly Item[];
  /** What has a name. */
  readonly entries: ReadonlyMap<string | number, Wire>;
}
export type Item = readonly [PathSegment, Wire];

const NO_ITEMS: readonly Item[] = [];
const NO_ENTRIES: ReadonlyMap<string | number, Wire> = new Map();

export function layout(parts: SpecialParts): Layout {
  switch (parts[0]) {
    case Kind.map: {
      const items: Item[] = [];
      for (let index = 0; 2 * index + 1 < parts.length; index++) {
        const key = parts[2 * index + 1];
        const mapItem: unknown = typeof key === "object" ? undefined : key;
        items.push([{ mapKey: index }, key], [{ mapItem, index }, parts[2 * index + 2]]);
      }
      return { head: [], items, entries: NO_ENTRIES };
    }
    case Kind.set: {
      const [, ...values] = parts;
      return { head: [], items: values.map((item, setItem) => [{ setItem }, item]), entries: NO_ENTRIES };
    }
    case Kind.array:
      return { head: [parts[1]], items: NO_ITEMS, entries: entriesOf(parts, 2) };
    case Kind.object:
    case Kind.nullObject:
      return { head: [], items: NO_ITEMS, entries: entriesOf(parts, 1) };
    case Kind.error: {
      const entries = entriesOf(parts, 3);
      // Where an error was made moves with every line added above it, and says nothing about what it is.
      entries.delete("stack");
      return { head: [parts[1]], items: NO_ITEMS, entries };
    }
    default:
      return { head: parts.slice(1), items: NO_ITEMS, entries: NO_ENTRIES };
  }
}

function entriesOf(parts: readonly Wire[], from: number): Map<string | number, Wire> {
  const entries = new Map<string | number, Wire>();
  for (let index = from; index < parts.length; index += 2) {
    const key = parts[index];
    entries.set(isText(key) ? textOf(key) : (key as number), parts[index + 1]);
  }
  return entries;
}
