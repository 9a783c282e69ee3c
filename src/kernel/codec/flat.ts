// The short way into the log, for what most values are: a plain object of simple values.

import { types } from "node:util";
import type { Wire } from "./special.js";
import { utf8Bytes } from "./text.js";

/** A copy of a plain object, its parts still being the caller's. Undefined for what only the walk knows how to take. */
export function plainCopy(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || types.isProxy(value)) return undefined;
  if (Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  if (Object.getOwnPropertySymbols(value).length > 0) return undefined;
  try {
    // Spreading is the fastest copy there is, reads getters, and makes an own property even of `__proto__`.
    return { ...value };
  } catch {
    return undefined;
  }
}

/**
 * Whether a plain object holds nothing but simple values, and so is its own wire. Most that is recorded is: the walk's
 * bookkeeping would cost as much again as the copy.
 */
export function isFlat(copy: Record<string, unknown>, bytesMax: number): copy is Record<string, Wire> {
  let bytes = 3;
  for (const key in copy) {
    const keyBytes = utf8Bytes(key);
    if (keyBytes < 0 || key === "__proto__") return false;
    const part = copy[key];
    let partBytes = 9;
    if (typeof part === "string") {
      partBytes = utf8Bytes(part);
      if (partBytes < 0) return false;
    } else if (typeof part === "number") {
      if (part === 0 && Object.is(part, -0)) return false;
    } else if (typeof part !== "boolean" && part !== undefined && part !== null) {
      return false;
    }
    bytes += keyBytes + partBytes + 2;
  }
  return bytes <= bytesMax;
}

const NOTHING = {};

/** Whether some library gave every object of the process a property more, which `for in` would meet. */
export function isPolluted(): boolean {
  // oxlint-disable-next-line no-unused-vars -- the question is whether there is any
  for (const _key in NOTHING) return true;
  return false;
}
