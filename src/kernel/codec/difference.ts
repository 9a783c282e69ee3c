// Differences: whether two wires stand for the same value, and if not, where they part.
//
// Two values are the same when they have the same shape, also in which of their objects are one and the same. The
// order of a plain object's keys and the stack of an error do not count; the order of a Map or a Set does.

import { describeValue } from "./describe.js";
import { fromWire, graphObjects } from "./from-wire.js";
import { type PathSegment, pathText } from "./refusal.js";
import { Kind, Special, type SpecialParts, type Wire, type WireObject } from "./special.js";
import { type Item, type Layout, layout } from "./special-layout.js";

export interface Difference {
  /** `value.rows[3].id`; the root is `value`. */
  readonly path: string;
  /** The two values there in a few characters, for messages. */
  readonly recorded: string;
  readonly attempted: string;
  /** The two values there. A part that one side lacks is undefined. */
  readonly values: readonly [recorded: unknown, attempted: unknown];
}

export function sameWire(recorded: Wire, attempted: Wire): boolean {
  return new Comparison().same(recorded, attempted);
}

export function firstDifference(recorded: Wire, attempted: Wire): Difference | undefined {
  const comparison = new Comparison();
  return comparison.same(recorded, attempted) ? undefined : comparison.difference();
}

const SUMMARY_CHARS_MAX = 60;

/** What stands for a part that is not there. */
const ABSENT = Symbol("absent");
type Part = Wire | typeof ABSENT;
type WireNode = Exclude<Wire, undefined | null | boolean | number | string | bigint>;

/** A value with references in it, and its objects by number. */
interface Graph {
  readonly root: Wire;
  readonly nodes: readonly WireNode[];
}

/** Comparing two values of which at least one is a graph. */
interface Scope {
  readonly recorded: Graph | undefined;
  readonly attempted: Graph | undefined;
  /** Which object of one stands where which object of the other does, both ways. */
  readonly pairs: Map<WireNode, WireNode>;
  readonly pairsBack: Map<WireNode, WireNode>;
}

interface Side {
  readonly part: Part;
  readonly graph: Graph | undefined;
  readonly isMetBefore: boolean;
}

class Comparison {
  #scope: Scope | undefined;
  /** Filled from the inside out once a difference is met. */
  #way: PathSegment[] = [];
  #sides: readonly [recorded: Side, attempted: Side] | undefined;

  same(recorded: Wire, attempted: Wire): boolean {
    if (!isNode(recorded) || !isNode(attempted)) {
      return Object.is(recorded, attempted) || this.#differ(recorded, attempted);
    }
    if (isGraph(recorded) || isGraph(attempted)) return this.#sameGraphs(recorded, attempted);
    return this.#scope === undefined
      ? this.#sameNodes(recorded, attempted)
      : this.#sameInScope(recorded, attempted, this.#scope);
  }

  difference(): Difference {
    const [recorded, attempted] = this.#sides as readonly [Side, Side];
    return {
      path: pathText(this.#way.toReversed()),
      recorded: wordsFor(recorded),
      attempted: wordsFor(attempted),
      values: [valueOf(recorded), valueOf(attempted)],
    };
  }

  #sameGraphs(recorded: Wire, attempted: Wire): boolean {
    const outer = this.#scope;
    const one = graphOf(recorded);
    const other = graphOf(attempted);
    this.#scope = { recorded: one, attempted: other, pairs: new Map(), pairsBack: new Map() };
    const isSame = this.same(one?.root ?? recorded, other?.root ?? attempted);
    this.#scope = outer;
    return isSame;
  }

  /** Objects of graphs are compared once: after that, each must keep turning up where its partner does. */
  #sameInScope(recorded: WireNode, attempted: WireNode, scope: Scope): boolean {
    const one = resolved(recorded, scope.recorded);
    const other = resolved(attempted, scope.attempted);
    if (isValue(one) || isValue(other)) return this.#sameNodes(one, other);
    const { pairs, pairsBack } = scope;
    if (pairs.has(one) || pairsBack.has(other)) {
      return pairs.get(one) === other || this.#differ(one, other, pairs.has(one), pairsBack.has(other));
    }
    pairs.set(one, other);
    pairsBack.set(other, one);
    return this.#sameNodes(one, other);
  }

  #sameNodes(recorded: WireNode, attempted: WireNode): boolean {
    if (Array.isArray(recorded)) {
      return Array.isArray(attempted)
        ? this.#sameItems(recorded, attempted)
        : this.#differ(recorded, attempted);
    }
    if (recorded instanceof Special) {
      return attempted instanceof Special && recorded.parts[0] === attempted.parts[0]
        ? this.#sameSpecials(recorded, attempted)
        : this.#differ(recorded, attempted);
    }
    if (recorded instanceof Uint8Array) {
      const isSame = attempted instanceof Uint8Array && Buffer.compare(recorded, attempted) === 0;
      return isSame || this.#differ(recorded, attempted);
    }
    if (Array.isArray(attempted) || attempted instanceof Special || attempted instanceof Uint8Array) {
      return this.#differ(recorded, attempted);
    }
    return this.#sameObjects(recorded as WireObject, attempted as WireObject);
  }

  #sameItems(recorded: readonly Wire[], attempted: readonly Wire[]): boolean {
    const length = Math.max(recorded.length, attempted.length);
    for (let index = 0; index < length; index++) {
      const one = index < recorded.length ? recorded[index] : ABSENT;
      const other = index < attempted.length ? attempted[index] : ABSENT;
      if (!this.#sameParts(index, one, other)) return false;
    }
    return true;
  }

  #sameObjects(recorded: WireObject, attempted: WireObject): boolean {
    const keys = Object.keys(recorded);
    for (const key of keys) {
      const other = Object.hasOwn(attempted, key) ? attempted[key] : ABSENT;
      if (!this.#sameParts(key, recorded[key], other)) return false;
    }
    if (Object.keys(attempted).length === keys.length) return true;
    const added = Object.keys(attempted).find((key) => !Object.hasOwn(recorded, key)) as string;
    return this.#sameParts(added, ABSENT, attempted[added]);
  }

  #sameSpecials(recorded: Special, attempted: Special): boolean {
    const one = layout(recorded.parts);
    const other = layout(attempted.parts);
    for (let index = 0; index < one.head.length; index++) {
      if (!this.same(one.head[index], other.head[index])) {
        // The head of a kind has no name: the difference is in the value as a whole.
        this.#way = [];
        return this.#differ(recorded, attempted);
      }
    }
    const length = Math.max(one.items.length, other.items.length);
    for (let index = 0; index < length; index++) {
      const [segment] = (one.items[index] ?? other.items[index]) as Item;
      if (!this.#sameParts(segment, itemAt(one.items, index), itemAt(other.items, index))) return false;
    }
    return this.#sameEntries(one.entries, other.entries);
  }

  #sameEntries(recorded: Layout["entries"], attempted: Layout["entries"]): boolean {
    for (const [key, one] of recorded) {
      if (!this.#sameParts(key, one, attempted.has(key) ? attempted.get(key) : ABSENT)) return false;
    }
    for (const [key, other] of attempted) {
      if (!recorded.has(key)) return this.#sameParts(key, ABSENT, other);
    }
    return true;
  }

  #sameParts(segment: PathSegment, recorded: Part, attempted: Part): boolean {
    const isSame =
      recorded === ABSENT || attempted === ABSENT
        ? this.#differ(recorded, attempted)
        : this.same(recorded, attempted);
    if (!isSame) this.#way.push(segment);
    return isSame;
  }

  /** Notes the two sides of the difference, to be put in words only if somebody asks. */
  #differ(recorded: Part, attempted: Part, isRecordedMet = false, isAttemptedMet = false): false {
    this.#sides = [
      { part: recorded, graph: this.#scope?.recorded, isMetBefore: isRecordedMet },
      { part: attempted, graph: this.#scope?.attempted, isMetBefore: isAttemptedMet },
    ];
    return false;
  }
}

function valueOf({ part, graph }: Side): unknown {
  if (part === ABSENT) return undefined;
  if (graph === undefined || !isNode(part)) return fromWire(part);
  const number = graph.nodes.indexOf(part);
  return number < 0 ? fromWire(part) : graphObjects(graph.root)[number];
}

function wordsFor(side: Side): string {
  if (side.part === ABSENT) return "nothing";
  // Two values may differ only in which of their objects are one.
  return (
    describeValue(valueOf(side), SUMMARY_CHARS_MAX) + (side.isMetBefore ? " (the same object as before)" : "")
  );
}

function isNode(wire: Wire): wire is WireNode {
  return typeof wire === "object" && wire !== null;
}

function isGraph(wire: Wire): boolean {
  return wire instanceof Special && wire.parts[0] === Kind.graph;
}

function graphOf(wire: Wire): Graph | undefined {
  if (!(wire instanceof Special) || wire.parts[0] !== Kind.graph) return undefined;
  const root = wire.parts[1];
  return { root, nodes: nodesOf(root) };
}

/** The object that a reference refers to. */
function resolved(node: WireNode, graph: Graph | undefined): WireNode {
  if (!(node instanceof Special) || node.parts[0] !== Kind.ref) return node;
  return graph?.nodes[node.parts[1]] ?? node;
}

const CONTAINERS: ReadonlySet<SpecialParts[0]> = new Set([
  Kind.map,
  Kind.set,
  Kind.array,
  Kind.object,
  Kind.nullObject,
  Kind.error,
]);
/** What is no object, though it takes a `Special` to write it. */
const VALUES: ReadonlySet<SpecialParts[0]> = new Set([
  Kind.negativeZero,
  Kind.bigint,
  Kind.text,
  Kind.ref,
  Kind.graph,
  Kind.sealed,
]);

function isValue(wire: WireNode): boolean {
  return wire instanceof Special && VALUES.has(wire.parts[0]);
}

/** The objects of a graph by their numbers, in the order of the walk that numbered them. */
function nodesOf(root: Wire): readonly WireNode[] {
  const nodes: WireNode[] = [];
  const visit = (wire: Wire): void => {
    if (!isNode(wire) || isValue(wire)) return;
    nodes.push(wire);
    if (Array.isArray(wire)) for (const item of wire as readonly Wire[]) visit(item);
    else if (wire instanceof Special) {
      if (CONTAINERS.has(wire.parts[0])) for (const part of wire.parts) visit(part);
    } else if (!(wire instanceof Uint8Array)) {
      for (const item of Object.values(wire as WireObject)) visit(item);
    }
  };
  visit(root);
  return nodes;
}

function itemAt(items: readonly Item[], index: number): Part {
  const item = items[index];
  return item === undefined ? ABSENT : item[1];
}
