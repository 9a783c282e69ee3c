// Terms: what tasks and effects say alike of how they may be run, checked where they are made. Loaded by every thread of the pool.

import { HeddleError } from "./errors.js";
import { checkSchemas } from "./schema.js";

interface Terms {
  readonly errors?: unknown;
  readonly mode?: unknown;
  readonly idempotent?: unknown;
  readonly placement?: unknown;
}

/** Refuses what tasks and effects say in common, where it makes no sense. Taken for a default it would be the wrong one. */
export function checkTerms(owner: string, { errors, mode, idempotent, placement }: Terms): void {
  checkSchemas(owner, "errors", errors);
  checkOneOf(owner, "mode", mode, ["journaled", "ambient"]);
  checkOneOf(owner, "placement", placement, ["inline", "pool"]);
  if (idempotent !== undefined && typeof idempotent !== "boolean")
    throw new HeddleError(
      "CONFIG_INVALID",
      `${owner}: idempotent must be true or false, not ${JSON.stringify(idempotent)}.`,
    );
}

/** Refuses what is none of the words a field knows. */
export function checkOneOf(owner: string, field: string, value: unknown, words: readonly string[]): void {
  if (value === undefined || words.includes(value as string)) return;
  const known = words.map((word) => JSON.stringify(word)).join(" or ");
  throw new HeddleError(
    "CONFIG_INVALID",
    `${owner}: ${field} must be ${known}, not ${JSON.stringify(value)}.`,
  );
}
