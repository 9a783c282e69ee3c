/** Whether nothing in this value can change any more. False for whatever has insides of another kind than plain data has. */
export function isDeepFrozen(value: unknown): boolean {
  const toDo: unknown[] = [value];
  const met = new Set<object>();
  while (toDo.length > 0) {
    const part = toDo.pop();
    if (typeof part === "function") return false;
    if (typeof part !== "object" || part === null || met.has(part)) continue;
    met.add(part);
    if (!isPlain(part) || !Object.isFrozen(part)) return false;
    for (const own of Object.values(Object.getOwnPropertyDescriptors(part))) {
      if (!("value" in own)) return false; // A getter answers as it likes.
      toDo.push(own.value);
    }
  }
  return true;
}

function isPlain(value: object): boolean {
  const proto: unknown = Object.getPrototypeOf(value);
  return proto === Object.prototype || proto === Array.prototype || proto === null;
}
