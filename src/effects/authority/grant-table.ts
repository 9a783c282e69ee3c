// GrantTable: who may do what, as a table. Whoever is not in it may do nothing.

import { type Grant, HeddleError } from "../../kernel/index.js";
import type { Principal } from "../effect.js";
import {
  type CapabilityAuthorizer,
  type CapabilityRequest,
  type CapabilityVerdict,
  covers,
} from "./authorizer.js";

const ALLOWED: CapabilityVerdict = { allowed: true };
const DENIED: CapabilityVerdict = { allowed: false, reason: "nothing grants it" };

export class GrantTable implements CapabilityAuthorizer {
  readonly #grants: ReadonlyMap<string, readonly Grant[]>;

  /**
   * @param grants by the name of the principal (itself when it is text, or else its `actor`), or by the id of a flow, which
   *   grants to all its executions
   * @throws CONFIG_INVALID
   */
  constructor(grants: Readonly<Record<string, readonly Grant[]>>) {
    if (typeof grants !== "object" || grants === null)
      throw new HeddleError("CONFIG_INVALID", "GrantTable: the grants are lists of names, by who has them.");
    for (const [holder, list] of Object.entries(grants)) {
      if (Array.isArray(list) && list.every((grant) => typeof grant === "string" && grant !== "")) continue;
      throw new HeddleError("CONFIG_INVALID", `GrantTable: the grants of ${holder} must be a list of names.`);
    }
    this.#grants = new Map(Object.entries(grants));
  }

  authorize({ principal, workflowId, effectId, resource }: CapabilityRequest): CapabilityVerdict {
    const isNamed = (grant: Grant): boolean => covers(grant, effectId, resource);
    const actor = actorOf(principal);
    const isGranted = (actor !== undefined && this.#has(actor, isNamed)) || this.#has(workflowId, isNamed);
    return isGranted ? ALLOWED : DENIED;
  }

  #has(holder: string, isNamed: (grant: Grant) => boolean): boolean {
    return this.#grants.get(holder)?.some(isNamed) ?? false;
  }
}

/** The name a principal goes by. */
export function actorOf(principal: Principal | undefined): string | undefined {
  return typeof principal === "string" ? principal : principal?.actor;
}
