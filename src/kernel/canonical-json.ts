// Canonical JSON: one text for equal values, whatever the order in which their keys were written. What JSON does not know is left
// out of it, as JSON does.

/** @param space of the indentation, as JSON.stringify takes it. Default: on one line */
export function canonicalJson(value: unknown, space?: number): string {
  return JSON.stringify(value, sorted, space) ?? "null";
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
