// Failures between threads: an error comes back with its name, code, cause and own properties, and one of heddle's as an
// instance of its class, so that `instanceof` and `retryable` hold on both sides (C-EFF-06).

import { failureToWire, fromWire, type Wire } from "../../kernel/codec/index.js";
import {
  ERROR_CODES,
  HeddleError,
  OverloadedError,
  PartitionLockedError,
  ResumePayloadValidationError,
  TypedFailure,
} from "../../kernel/errors.js";

/** The classes by the names they carry; what a class adds are own properties, which the wire keeps. */
const CLASSES: ReadonlyMap<unknown, { readonly prototype: HeddleError }> = new Map(
  [
    ["HeddleError", HeddleError],
    ["TypedFailure", TypedFailure],
    ["OverloadedError", OverloadedError],
    ["PartitionLockedError", PartitionLockedError],
    ["ResumePayloadValidationError", ResumePayloadValidationError],
    // Its class lies in a room that threads do not load. What it says of a retry are its own properties.
    ["LlmError", HeddleError],
  ].map(([name, type]) => [name, type as { readonly prototype: HeddleError }]),
);

/** Whatever was thrown; never throws itself. */
export const packFailure = failureToWire;

export function unpackFailure(failure: Wire): unknown {
  const thrown = fromWire(failure);
  revive(thrown, new Set());
  return thrown;
}

/** The rebuilt error has every field already, the stack of its origin among them; only its class is missing. */
function revive(thrown: unknown, met: Set<unknown>): void {
  if (!(thrown instanceof Error) || met.has(thrown)) return;
  met.add(thrown);
  const { name, code, cause, errors } = thrown as Error & {
    readonly code?: unknown;
    readonly errors?: unknown;
  };
  const type = typeof code === "string" && Object.hasOwn(ERROR_CODES, code) ? CLASSES.get(name) : undefined;
  if (type) Object.setPrototypeOf(thrown, type.prototype);
  revive(cause, met);
  if (Array.isArray(errors)) for (const error of errors) revive(error, met);
}
