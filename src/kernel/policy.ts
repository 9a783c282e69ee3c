// Policies: what a flow, or every flow of an app, may do at most. Data only; who enforces it stands in effects.

import { HeddleError } from "./errors.js";
import { checkId } from "./ids.js";

/**
 * What may run: an effect by its id, one resource behind it (`effect:resource`), or everything under a prefix (`prefix*`,
 * `effect:prefix*`, `*`). The bare effect covers all its resources.
 */
export type Grant = string;

export interface PolicyDefinition {
  readonly id: string;
  /** What may run. Default: everything that is not denied. */
  readonly allow?: readonly Grant[];
  /** What may not, whatever `allow` says. */
  readonly deny?: readonly Grant[];
}

/** A policy for `flow$({ policies })` or `security.policies`. It narrows: what it denies, no grant gives back. */
export function policy$(policy: PolicyDefinition): PolicyDefinition {
  checkId("policy id", policy.id);
  for (const list of ["allow", "deny"] as const) {
    const grants: unknown = policy[list];
    if (grants === undefined || (Array.isArray(grants) && grants.every((grant) => typeof grant === "string")))
      continue;
    throw new HeddleError(
      "CONFIG_INVALID",
      `Policy ${policy.id}: ${list} must be a list of names of effects.`,
    );
  }
  return Object.freeze({ ...policy });
}
