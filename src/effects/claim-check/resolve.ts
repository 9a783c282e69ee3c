// From an envelope back to the value. For use outside of flows: a flow that read content would depend on what no log holds.

import { type ContentStore, contentMissing, HeddleError } from "../../kernel/index.js";
import { unwrapTainted } from "../../kernel/taint.js";
import { decodeValue } from "./encoding.js";
import { type ClaimCheckEnvelope, isClaimCheck } from "./envelope.js";

/** As much of a content store as reading takes. */
export type ClaimCheckReader = Pick<ContentStore, "get">;

/**
 * The value an envelope stands for, or null when its content is gone. What is no envelope is given back as it is. A stream
 * comes back as a Buffer.
 *
 * @throws INPUT_INVALID for an envelope that does not fit its content
 */
export async function resolveClaimCheck<T = unknown>(
  store: ClaimCheckReader,
  value: unknown,
): Promise<T | null> {
  const envelope = unwrapTainted(value);
  if (!isClaimCheck(envelope)) return value as T;
  const bytes = await store.get(envelope.ref);
  return bytes && (valueOf(envelope, bytes) as T);
}

/** Anybody may write an envelope. What it says of the content need not be true, and the content is nothing for an error's words. */
function valueOf({ ref, codec }: ClaimCheckEnvelope, bytes: Uint8Array): unknown {
  try {
    return decodeValue(bytes, codec);
  } catch {
    throw new HeddleError(
      "INPUT_INVALID",
      `The content ${ref} is not what its envelope says: no claim check made this envelope. resolveClaimCheckBytes gives the ` +
        "content as it is.",
      { details: { ref } },
    );
  }
}

/**
 * The content itself, whatever it stands for, or null when it is gone.
 *
 * @throws INPUT_INVALID for what is no envelope
 */
export async function resolveClaimCheckBytes(
  store: ClaimCheckReader,
  value: unknown,
): Promise<Uint8Array | null> {
  const envelope = unwrapTainted(value);
  if (isClaimCheck(envelope)) return store.get(envelope.ref);
  throw new HeddleError(
    "INPUT_INVALID",
    "resolveClaimCheckBytes takes a claim check envelope; isClaimCheck(value) tells whether it is one.",
  );
}

/**
 * The value with every envelope in it replaced; the very same value when there is none.
 *
 * @throws CONTENT_MISSING, INPUT_INVALID for an envelope that does not fit its content
 */
export async function resolveWithin(value: unknown, store: () => ClaimCheckReader): Promise<unknown> {
  const envelopes = new Set<ClaimCheckEnvelope>();
  findEnvelopes(value, envelopes, new Set());
  if (envelopes.size === 0) return value;
  const values = new Map<object, unknown>();
  for (const envelope of envelopes) {
    const bytes = await store().get(envelope.ref);
    if (!bytes) throw contentMissing(envelope.ref);
    values.set(envelope, valueOf(envelope, bytes));
  }
  return replaced(value, values);
}

function findEnvelopes(value: unknown, found: Set<ClaimCheckEnvelope>, met: Set<object>): void {
  if (!isTree(value) || met.has(value)) return;
  met.add(value);
  if (isClaimCheck(value)) found.add(value);
  else for (const part of Object.values(value)) findEnvelopes(part, found, met);
}

/** `done`: what each object has become; what refers to itself goes on doing so. */
function replaced(value: unknown, done: Map<object, unknown>): unknown {
  if (!isTree(value)) return value;
  if (done.has(value)) return done.get(value);
  const copy: unknown[] | Record<string, unknown> = Array.isArray(value)
    ? []
    : (Object.create(Object.getPrototypeOf(value) as object | null) as Record<string, unknown>);
  done.set(value, copy);
  // Defined, not set: `__proto__` is a key like any other in what came out of JSON.
  for (const [key, part] of Object.entries(value))
    Object.defineProperty(copy, key, {
      value: replaced(part, done),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  return copy;
}

/** Plain objects and arrays: where envelopes are looked for. */
function isTree(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const proto: unknown = Object.getPrototypeOf(value);
  return proto === Object.prototype || proto === null;
}
