// Taint: the mark of content that came from somewhere nobody vouches for, such as a web page, a mail, or another party's
// tool. It is plain data, so the log, threads and JSON keep it without knowing of it.
//
// U1  One key holds both origin and value: a schema that drops the key drops the content, and leaves nothing clean behind.
// U2  Whatever has the key counts as tainted, made here or not, and so does what cannot be looked into.

import { types } from "node:util";
import { HeddleError } from "./errors.js";

const MARK = "__heddleTainted";
const UNKNOWN = "unknown";

/** Content nobody vouches for, and where it came from. Reach it with `unwrapTainted`, once it is checked. */
export interface Tainted<T = unknown> {
  readonly [MARK]: { readonly origin: string; readonly value: T };
}

/**
 * Marks a value as untrusted. What is marked already keeps its mark inside: `unwrapTainted` takes both off.
 *
 * @param origin where it came from, for people: `"mail"`, `"mcp:search"`
 * @throws INPUT_INVALID for an origin that is no text, or empty
 */
export function tainted<T>(value: T, origin: string): Tainted<T> {
  if (typeof origin !== "string" || origin === "") {
    throw new HeddleError("INPUT_INVALID", 'tainted(value, origin): say where it came from, as in "mail".');
  }
  return { [MARK]: { origin, value } };
}

/** Whether the value itself is marked. Fails safe: a look-alike is, and so is what throws when it is looked at. (U2) */
export function isTainted(value: unknown): value is Tainted {
  return isObject(value) && bearsMark(value);
}

/**
 * The content, without the marks around it; anything else is given back as it is. Marks deeper inside stay.
 *
 * @throws INPUT_INVALID for what has the mark and not its form: it was not made by `tainted`
 */
export function unwrapTainted<T>(value: T | Tainted<T>): T {
  let content: unknown = value;
  while (isTainted(content)) {
    const facts = factsOf(content);
    if (!facts) {
      throw new HeddleError(
        "INPUT_INVALID",
        "This is marked as tainted, but tainted() did not make it: take it for hostile, and do not unwrap it.",
      );
    }
    content = facts.value;
  }
  return content as T;
}

/** Whether anything in the value is marked, at any depth. Fails safe, as `isTainted` does. */
export function hasTainted(value: unknown): boolean {
  return taintOrigin(value) !== undefined;
}

/**
 * The origin of the first mark met in the value, at any depth; undefined when there is none. Of a mark that `tainted` did not
 * make it is `"unknown"`.
 */
export function taintOrigin(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  let met: Set<object> | undefined; // most of what is asked about has no objects in it
  const toDo: object[] = [value];
  for (let part = toDo.pop(); part !== undefined; part = toDo.pop()) {
    if (met?.has(part)) continue;
    if (bearsMark(part)) return factsOf(part)?.origin ?? UNKNOWN;
    try {
      addParts(part, toDo);
    } catch {
      return UNKNOWN; // U2: a getter that throws
    }
    if (toDo.length > 0) met ??= new Set();
    met?.add(part);
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function bearsMark(value: object): boolean {
  // Its traps answer as they like, and another way the next time.
  if (types.isProxy(value)) return true;
  return MARK in value;
}

/** What a mark says, if it has the very form that `tainted` gives it. */
function factsOf(value: object): { readonly origin: string; readonly value: unknown } | undefined {
  if (types.isProxy(value) || Reflect.ownKeys(value).length !== 1) return undefined;
  const facts: unknown = Object.getOwnPropertyDescriptor(value, MARK)?.value;
  if (!isObject(facts) || types.isProxy(facts)) return undefined;
  const origin: unknown = Object.getOwnPropertyDescriptor(facts, "origin")?.value;
  const content = Object.getOwnPropertyDescriptor(facts, "value");
  if (typeof origin !== "string" || !content || !("value" in content)) return undefined;
  return { origin, value: content.value };
}

/** Adds the objects that lie in one, whatever its class; the bytes of a buffer are no parts. */
function addParts(value: object, parts: object[]): void {
  if (ArrayBuffer.isView(value)) return;
  for (const key of Reflect.ownKeys(value)) {
    const part: unknown = Reflect.get(value, key);
    if (isObject(part)) parts.push(part);
  }
  if (types.isMap(value)) for (const entry of value) parts.push(...entry.filter(isObject));
  if (types.isSet(value)) for (const item of value) if (isObject(item)) parts.push(item);
}
