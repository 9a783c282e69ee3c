// An invocation for another task. Its own fields are private to it, so it cannot be copied: everything else is asked of the original.

import type { Invocation } from "../../effects/index.js";

export function withTask(invocation: Invocation, task: Invocation["task"]): Invocation {
  return new Proxy(invocation, {
    get: (target, property) => (property === "task" ? task : boundTo(target, property)),
    set: (target, property, value) => Reflect.set(target, property, value, target),
  });
}

/** A property as its owner has it, methods bound to it. */
export function boundTo(owner: object, property: string | symbol): unknown {
  const value: unknown = Reflect.get(owner, property, owner);
  return typeof value === "function" ? (value.bind(owner) as unknown) : value;
}
