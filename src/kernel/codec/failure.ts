// Failures: what was thrown, on its way into the log. Whatever it was, the log has to hold something for it.

import { types } from "node:util";
import { HeddleError } from "../errors.js";
import { describeValue } from "./describe.js";
import { nearestErrorClass } from "./error-parts.js";
import { Kind, Special, type Wire } from "./special.js";
import { shortened } from "./text.js";
import { measuredWire, toWire, VALUE_LIMITS, type ValueLimits } from "./to-wire.js";

const TEXT_CHARS_MAX = 8_000;
const CAUSES_MAX = 8;

/**
 * The wire of something thrown. Never throws: what cannot be recorded of an error is replaced by words for it (clients
 * of web services hang sockets and functions on theirs), and a thrown thing that is no error becomes one that tells.
 */
export function failureToWire(thrown: unknown, limits: ValueLimits = VALUE_LIMITS): Wire {
  return failureAt(thrown, limits, 0);
}

function failureAt(thrown: unknown, limits: ValueLimits, causes: number): Wire {
  try {
    return toWire(thrown, limits);
  } catch (refusal) {
    if (isError(thrown)) return salvaged(thrown, limits, causes);
    const message = `Something was thrown that cannot be recorded: ${wordsFor(refusal)}, ${describeValue(thrown)}`;
    return new Special([Kind.error, "Error", 1, "message", message.toWellFormed()]);
  }
}

function salvaged(error: Error, limits: ValueLimits, causes: number): Wire {
  const hidden: Wire[] = [];
  const visible: Wire[] = [];
  let bytesLeft = limits.bytesMax;
  for (const key of new Set(["name", "message", "stack", "code", "cause", ...Object.keys(error)])) {
    const own = Object.getOwnPropertyDescriptor(error, key);
    const value = read(error, key);
    if (value === undefined) continue;
    const entry = (wire: Wire): unknown => (own?.enumerable ? visible : hidden).push(toWire(key), wire);
    if (typeof value === "string") entry(toWire(shortened(value, TEXT_CHARS_MAX)));
    else if (key === "cause" && isError(value)) {
      entry(causes < CAUSES_MAX ? failureAt(value, limits, causes + 1) : describeValue(value));
    } else {
      try {
        const { wire, bytes } = measuredWire(value, { ...limits, bytesMax: bytesLeft });
        bytesLeft -= bytes;
        entry(wire);
      } catch (refusal) {
        entry(`[not recorded: ${wordsFor(refusal)}]`);
      }
    }
  }
  return new Special([Kind.error, nearestErrorClass(error), hidden.length / 2, ...hidden, ...visible]);
}

function isError(value: unknown): value is Error {
  return !types.isProxy(value) && (types.isNativeError(value) || value instanceof Error);
}

function read(owner: object, key: string): unknown {
  try {
    return Reflect.get(owner, key);
  } catch {
    return "[a getter that throws]";
  }
}

function wordsFor(refusal: unknown): string {
  if (!(refusal instanceof HeddleError)) return "something that throws when it is read";
  const { kind } = refusal.details;
  return typeof kind === "string" ? kind : "too large";
}
