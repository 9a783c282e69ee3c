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
  checkPolicy(policy);
  return Object.freeze({ ...policy });
}

const FIELDS = ["id", "allow", "deny"];

/** Refuses what is no policy. A word that it does not know may be a misspelt `allow`, without which everything is allowed. */
function checkPolicy(policy: unknown): asserts policy is PolicyDefinition {
  if (typeof policy !== "object" || policy === null) throw invalid("A policy", "is made by policy$");
  const { id } = policy as { readonly id: unknown };
  checkId("policy id", id);
  const owner = `Policy ${id}`;
  for (const [field, value] of Object.entries(policy)) {
    if (!FIELDS.includes(field)) throw invalid(owner, `knows no ${field}. There are: ${FIELDS.join(", ")}`);
    if (field !== "id" && value !== undefined && !isListOfNames(value))
      throw invalid(owner, `${field} must be a list of names of effects`);
  }
}

/** @param owner whose they are, as in "flow orders" */
export function checkPolicies(owner: string, policies: unknown): void {
  if (policies === undefined) return;
  if (!Array.isArray(policies)) throw invalid(owner, "policies must be a list");
  for (const policy of policies) checkPolicy(policy);
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string" && name !== "");
}

function invalid(owner: string, complaint: string): HeddleError {
  return new HeddleError("CONFIG_INVALID", `${owner}: ${complaint}.`);
}
