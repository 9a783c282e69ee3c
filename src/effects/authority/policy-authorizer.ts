// PolicyAuthorizer: enforces policies, those of the app first, then those of the flow, then asks whom it was given.

import { checkPolicies, type Grant, type PolicyDefinition } from "../../kernel/index.js";
import {
  type CapabilityAuthorizer,
  type CapabilityRequest,
  type CapabilityVerdict,
  covers,
  coversSome,
} from "./authorizer.js";

export interface PolicyAuthorizerOptions {
  /** For every flow. */
  readonly policies?: readonly PolicyDefinition[];
  /** Those of one flow, by its id. */
  readonly policiesOf?: (workflowId: string) => readonly PolicyDefinition[];
  /** Asked when no policy denies. Default: yes. */
  readonly authorizer?: CapabilityAuthorizer | undefined;
}

const ALLOWED: CapabilityVerdict = { allowed: true };

export class PolicyAuthorizer implements CapabilityAuthorizer {
  readonly #options: PolicyAuthorizerOptions;

  constructor(options: PolicyAuthorizerOptions) {
    checkPolicies("PolicyAuthorizer", options.policies);
    this.#options = options;
  }

  authorize(request: CapabilityRequest): CapabilityVerdict | Promise<CapabilityVerdict> {
    const { policies = [], policiesOf, authorizer } = this.#options;
    for (const policy of [...policies, ...(policiesOf?.(request.workflowId) ?? [])]) {
      const refusal = refusalOf(policy, request);
      if (refusal) return refusal;
    }
    // An answer that is none is for the ring to read: it denies.
    return authorizer ? authorizer.authorize(request) : ALLOWED;
  }
}

function refusalOf(
  { id, allow, deny = [] }: PolicyDefinition,
  { effectId, resource, isResourceHidden }: CapabilityRequest,
): CapabilityVerdict | undefined {
  const isNamed = (grant: Grant): boolean => covers(grant, effectId, resource);
  if (deny.some(isNamed)) return { allowed: false, reason: `policy ${id} denies it` };
  if (isResourceHidden && deny.some((grant) => coversSome(grant, effectId)))
    return {
      allowed: false,
      reason: `policy ${id} may deny it: its input does not show which resource it is about`,
    };
  if (allow && !allow.some(isNamed)) return { allowed: false, reason: `policy ${id} does not allow it` };
  return undefined;
}
