// Errors on their way into the log.

import { ERROR_CLASSES, Kind, type SpecialParts, type Wire } from "./special.js";
import type { Walk } from "./walk.js";

/** What an error carries without listing it. `name` and `code` often live on the prototype. */
const HIDDEN = ["name", "message", "stack", "cause", "errors", "code"] as const;

export function errorParts(walk: Walk, error: Error): SpecialParts {
  const className = nearestErrorClass(error);
  const parts: Wire[] = [];
  walk.spend(className.length + 8);
  walk.enter();
  for (const key of HIDDEN) {
    const own = Object.getOwnPropertyDescriptor(error, key);
    if (own?.enumerable) continue;
    const value: unknown = Reflect.get(error, key);
    if (isWorthKeeping(key, value, own !== undefined, className)) parts.push(key, walk.copyPart(key, value));
  }
  walk.leave();
  const hiddenCount = parts.length / 2;
  walk.entries(error, parts);
  return [Kind.error, className, hiddenCount, ...parts];
}

function isWorthKeeping(
  key: (typeof HIDDEN)[number],
  value: unknown,
  isOwn: boolean,
  className: string,
): boolean {
  // A hook on stack traces may have made the stack an array of call sites, which is nothing one could keep.
  if (key === "stack") return typeof value === "string";
  if (isOwn) return true;
  if (key === "name") return typeof value === "string" && value !== className;
  if (key === "message") return typeof value === "string" && value !== "";
  // The code of a DOMException follows from its name.
  if (key === "code")
    return className !== "DOMException" && (typeof value === "string" || typeof value === "number");
  return false;
}

/** The class an error comes back as: its own, or the nearest built-in one that it extends. */
export function nearestErrorClass(error: Error): string {
  let proto = Object.getPrototypeOf(error) as object | null;
  for (; proto !== null; proto = Object.getPrototypeOf(proto) as object | null) {
    const constructor: unknown = Object.getOwnPropertyDescriptor(proto, "constructor")?.value;
    if (typeof constructor === "function" && ERROR_CLASSES.has(constructor.name)) return constructor.name;
  }
  return "Error";
}
