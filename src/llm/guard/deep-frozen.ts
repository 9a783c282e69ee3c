/** Whether nothing in this value can change any more. False for whatever has insides of another kind than plain data has. */
export function isDeepFrozen(value: unknown): boolean {
  const parts = new Set<unknown>([value]); // it goes through what is added on the way too
  for (const part of parts) {
    if (typeof part === "function") return false;
    if (typeof part !== "object" || part === null) continue;
    if (!isPlain(part) || !Object.isFrozen(part)) return false;
    for (const key of Object.getOwnPropertyNames(part)) {
      const own = Object.getOwnPropertyDescriptor(part, key);
      if (!own || !("value" in own)) return false; // A getter answers as it likes.
      if (typeof own.value === "object" || typeof own.value === "function") parts.add(own.value);
    }
  }
  return true;
}

function isPlain(value: object): boolean {
  const proto: unknown = Object.getPrototypeOf(value);
  return proto === Object.prototype || proto === Array.prototype || proto === null;
}
