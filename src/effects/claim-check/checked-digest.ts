// What a digest may be: a small value that a log can keep.

import { fromWire, toWire, VALUE_LIMITS } from "../../kernel/codec/index.js";
import { contained } from "../../kernel/deferred.js";
import { HeddleError } from "../../kernel/errors.js";

/** A digest is for the log, and so is its size. */
const DIGEST_LIMITS = { ...VALUE_LIMITS, bytesMax: 16 * 1024 };

/**
 * @param shown what may be seen of it
 * @throws DIGEST_FAILED for what is too large for a log, or cannot be recorded */
export function checkedDigest(
  digest: unknown,
  toolId: string,
  shown: (digest: unknown) => unknown = (value) => value,
): unknown {
  if (digest instanceof Promise) void contained(digest); // it is refused, and what it comes to is nobody's error
  try {
    return fromWire(toWire(shown(digest), DIGEST_LIMITS));
  } catch (error) {
    throw digestFailed(toolId, `gave no small recordable value: ${(error as Error).message}`, error);
  }
}

export function digestFailed(toolId: string, what: string, cause: unknown): HeddleError {
  return new HeddleError(
    "DIGEST_FAILED",
    `The digest for the result of ${toolId} ${what.replace(/\.$/, "")}. The effect has run; mend the digest.`,
    { cause, details: { toolId } },
  );
}
