// Freezing: messages are handed to effects as they are, without a copy for each turn, so nobody may change them.

/** A copy of plain data that cannot be changed, all the way down. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as T;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value; // a Date, bytes: what JSON of a model never has
  const copy: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) {
    // A model may name an argument so; assignment would take it for something else.
    if (key === "__proto__") Object.defineProperty(copy, key, { value: frozenCopy(part), enumerable: true });
    else copy[key] = frozenCopy(part);
  }
  return Object.freeze(copy) as T;
}
