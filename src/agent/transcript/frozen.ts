// Freezing: messages are handed to effects as they are, without a copy for each turn, so nobody may change them.

/** A copy of plain data that cannot be changed, all the way down. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as T;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value; // a Date, bytes: what JSON of a model never has
  // By entries, and not by assignment: a model may name an argument "__proto__".
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([key, part]) => [key, frozenCopy(part)])),
  ) as T;
}
