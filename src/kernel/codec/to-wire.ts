// Walk: one pass over a value on its way into the log.
//
// Owns       the bytes spent, the way walked so far, the objects met so far.
// Leaves     built-in classes to built-in.ts, words to refusal.ts.
//
// W1  The wire shares no memory with the value: changing one later does not change the other.
// W2  An object met twice becomes a reference. Objects are numbered in the order of the walk; from-wire.ts walks alike.
// W3  Work is bounded: depth by `depthMax`, all else by `bytesMax`, because everything costs at least a byte.
// W4  Nothing is encoded or copied before it is known to fit.

import { types } from "node:util";
import { isDense } from "./array-shape.js";
import { builtIn, isOfClass } from "./built-in.js";
import { isFlat, isPolluted, plainCopy } from "./flat.js";
import { adviceFor, kindInWords, notRecordable, type PathSegment, tooDeep, tooLarge } from "./refusal.js";
import { Kind, NEGATIVE_ZERO, Sealed, Special, type Wire, type WireObject } from "./special.js";
import { utf8Bytes } from "./text.js";
import type { Walk } from "./walk.js";

/** What one recorded value may cost. */
export interface ValueLimits {
  /** Size of the value in the log, nearly exact. */
  readonly bytesMax: number;
  /** How many objects may lie inside one another. */
  readonly depthMax: number;
}

export const VALUE_BYTES_MAX = 16 * 1024 * 1024;
/** Far below what the stack of a thread allows, and far above what anybody nests by hand. */
export const VALUE_DEPTH_MAX = 500;
export const VALUE_LIMITS: ValueLimits = { bytesMax: VALUE_BYTES_MAX, depthMax: VALUE_DEPTH_MAX };

/**
 * The recordable form of a value: a fresh tree, cut off from the value. Throws VALUE_NOT_RECORDABLE or VALUE_TOO_LARGE.
 */
export function toWire(value: unknown, limits: ValueLimits = VALUE_LIMITS): Wire {
  const copy = plainCopy(value);
  if (copy !== undefined && isFlat(copy, limits.bytesMax)) return copy;
  const walk = new ValueWalk(limits);
  walk.run(value, copy);
  return walk.wire;
}

/** The same, with the bytes it will take. */
export function measuredWire(
  value: unknown,
  limits: ValueLimits,
): { readonly wire: Wire; readonly bytes: number } {
  const walk = new ValueWalk(limits);
  walk.run(value, undefined);
  return walk;
}

/** Up to this many objects, looking through a list is cheaper than hashing. */
const FEW = 12;

class ValueWalk implements Walk {
  wire: Wire = undefined;
  bytes = 0;
  readonly #limits: ValueLimits;
  /** Segments up to `#depth` lead to the part in hand; what lies beyond is left over from siblings. */
  readonly #path: PathSegment[] = [];
  #depth = 0;
  #isGraph = false;
  #isRefused = false;
  /** Whether some library made every object of the process look as if it had more properties. */
  readonly #isPolluted = isPolluted();
  #count = 0;
  #first: object | undefined;
  #few: object[] | undefined;
  #many: Map<object, number> | undefined;

  constructor(limits: ValueLimits) {
    this.#limits = limits;
  }

  /** `copy` is that of `plainCopy`, when there is one already: getters are read once. */
  run(value: unknown, copy: Record<string, unknown> | undefined): void {
    try {
      const wire = copy === undefined ? this.copy(value) : this.#plainRoot(value as object, copy);
      this.wire = this.#isGraph ? new Special([Kind.graph, wire]) : wire;
    } catch (error) {
      // Getters are the value's own code and may throw anything.
      if (this.#isRefused) throw error;
      const advice = "Its cause is what a getter of it threw.";
      throw notRecordable(this.#here(), "something that throws when it is read", advice, error);
    }
  }

  copy(value: unknown): Wire {
    switch (typeof value) {
      case "string":
        return this.text(value);
      case "number":
        this.spend(9);
        // msgpackr writes -0 as 0.
        return value === 0 && Object.is(value, -0) ? NEGATIVE_ZERO : value;
      case "undefined":
      case "boolean":
        this.spend(1);
        return value;
      case "bigint":
        return this.#bigint(value);
      case "object":
        if (value !== null) return this.#object(value);
        this.spend(1);
        return value;
      default:
        throw this.refuse(value);
    }
  }

  copyPart(segment: PathSegment, value: unknown): Wire {
    this.#path[this.#depth - 1] = segment;
    return this.copy(value);
  }

  text(value: string): Wire {
    // W4: a string has at least as many bytes as characters, so a giant is refused without being looked at.
    if (value.length > this.#limits.bytesMax) this.spend(value.length);
    const bytes = utf8Bytes(value);
    if (bytes >= 0) {
      this.spend(bytes + 1);
      return value;
    }
    this.spend(2 * value.length + 8);
    const utf16 = Buffer.allocUnsafeSlow(2 * value.length);
    utf16.write(value, "utf16le");
    return new Special([Kind.text, utf16]);
  }

  enter(): void {
    this.#depth += 1;
  }

  leave(): void {
    this.#depth -= 1;
  }

  spend(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#limits.bytesMax) {
      this.#isRefused = true;
      throw tooLarge(this.#here(), this.bytes, this.#limits.bytesMax);
    }
  }

  refuse(value: unknown, kind = kindInWords(value), advice = adviceFor(value)): Error {
    this.#isRefused = true;
    return notRecordable(this.#here(), kind, advice);
  }

  entries(value: object, parts: Wire[]): void {
    this.refuseSymbolKeys(value);
    this.enter();
    for (const key of Object.keys(value)) {
      parts.push(this.copyPart(key, key), this.copyPart(key, Reflect.get(value, key)));
    }
    this.leave();
  }

  refuseSymbolKeys(value: object): void {
    const symbols = Object.getOwnPropertySymbols(value);
    if (symbols.length === 0) return;
    if (types.isArgumentsObject(value)) throw this.refuse(value);
    for (const symbol of symbols) {
      if (!Object.prototype.propertyIsEnumerable.call(value, symbol)) continue;
      throw this.refuse(
        value,
        `an object with a symbol as key (${symbol.description ?? ""})`,
        "Use text as the key.",
      );
    }
  }

  #object(value: object): Wire {
    // Before anything else: every other question would run the proxy's traps.
    if (types.isProxy(value)) throw this.refuse(value);
    if (value instanceof Sealed) {
      this.spend((value.special.parts[3] as Uint8Array).length + 16);
      return value.special;
    }
    const known = this.#meet(value);
    if (known !== undefined) {
      this.#isGraph = true;
      this.spend(8);
      return new Special([Kind.ref, known]);
    }
    if (this.#depth >= this.#limits.depthMax) {
      this.#isRefused = true;
      throw tooDeep(this.#here(), this.#limits.depthMax);
    }
    if (Array.isArray(value)) return this.#array(value);
    const proto: unknown = Object.getPrototypeOf(value);
    if (proto === Object.prototype || (proto !== null && isOfClass(value, "Object", 0))) {
      this.refuseSymbolKeys(value);
      const copy: Record<string, unknown> = { ...value };
      return this.#plain(copy);
    }
    return builtIn(this, value);
  }

  #plainRoot(value: object, copy: Record<string, unknown>): Wire {
    this.#meet(value);
    return this.#plain(copy);
  }

  /** Replaces every part of the copy of a plain object by its wire. */
  #plain(copy: Record<string, unknown>): Wire {
    this.spend(3);
    this.#depth += 1;
    for (const key in copy) {
      if (this.#isPolluted && !Object.hasOwn(copy, key)) continue;
      const bytes = utf8Bytes(key);
      if (bytes < 0 || key === "__proto__") return this.#oddPlain(copy, key);
      this.spend(bytes + 1);
      this.#path[this.#depth - 1] = key;
      const part = copy[key];
      const wire = this.copy(part);
      if (wire !== part) copy[key] = wire;
    }
    this.#depth -= 1;
    return copy as WireObject;
  }

  /** Goes on with a plain object, the keys before `from` being done, in the form that can carry any key. */
  #oddPlain(copy: Record<string, unknown>, from: string): Wire {
    const parts: [typeof Kind.object, ...Wire[]] = [Kind.object];
    const keys = Object.keys(copy);
    const done = copy as WireObject;
    const count = keys.indexOf(from);
    for (const key of keys.slice(0, count)) parts.push(key, done[key]);
    for (const key of keys.slice(count)) {
      parts.push(this.copyPart(key, key), this.copyPart(key, Reflect.get(copy, key)));
    }
    this.#depth -= 1;
    return new Special(parts);
  }

  #array(value: readonly unknown[]): Wire {
    const isOurs = Object.getPrototypeOf(value) === Array.prototype || isOfClass(value, "Array");
    if (!isOurs) throw this.refuse(value);
    this.spend(5);
    if (!isDense(value)) return this.#oddArray(value);
    const copy: Wire[] = [];
    this.#depth += 1;
    for (let index = 0; index < value.length; index++) {
      this.#path[this.#depth - 1] = index;
      copy.push(this.copy(value[index]));
    }
    this.#depth -= 1;
    return copy;
  }

  #oddArray(value: readonly unknown[]): Wire {
    this.refuseSymbolKeys(value);
    const parts: [typeof Kind.array, number, ...Wire[]] = [Kind.array, value.length];
    this.#depth += 1;
    // Indexes first, then names: the order of the language.
    for (const name of Object.keys(value)) {
      const key = isIndex(name) ? Number(name) : name;
      parts.push(this.copyPart(key, key), this.copyPart(key, Reflect.get(value, name)));
    }
    this.#depth -= 1;
    return new Special(parts);
  }

  #bigint(value: bigint): Wire {
    if (isNativeBigint(value)) {
      this.spend(9);
      return value;
    }
    const hex = value.toString(16);
    this.spend(hex.length + 6);
    return new Special([Kind.bigint, hex]);
  }

  /** W2: the number of an object met before; otherwise it gets the next number. */
  #meet(value: object): number | undefined {
    if (this.#count === 0) {
      this.#first = value;
      this.#count = 1;
      return undefined;
    }
    if (this.#count < FEW) {
      this.#few ??= [this.#first as object];
      const known = this.#few.indexOf(value);
      if (known >= 0) return known;
      this.#few.push(value);
    } else {
      this.#many ??= new Map((this.#few ?? []).map((object, index) => [object, index]));
      const known = this.#many.get(value);
      if (known !== undefined) return known;
      this.#many.set(value, this.#count);
    }
    this.#count += 1;
    return undefined;
  }

  #here(): PathSegment[] {
    return this.#path.slice(0, this.#depth);
  }
}

function isIndex(key: string): boolean {
  const index = Number(key) >>> 0;
  return index < 2 ** 32 - 1 && String(index) === key;
}

const SAFE_MAX = 2n ** 53n;
const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;

/** Whether msgpack gives this bigint back as a bigint: small ones would come back as numbers, huge ones do not fit. */
function isNativeBigint(value: bigint): boolean {
  return (value > SAFE_MAX && value <= UINT64_MAX) || (value < -SAFE_MAX && value >= INT64_MIN);
}
