// The ring: what stands between an execution and the world, outermost first. The list below is its order; nothing else
// decides it.
//
// G1  Authority comes first: what may not run is not counted and not retried, and no middleware sees it.
//     Budgets come next: what middleware does to an attempt, it does to one that was counted.
// G2  Claim checks come next to last: every other layer sees what the log will record, and the effect alone the values behind it.
// G3  Secrets come last, in the thread of the effect: nothing but the effect sees what a reference stands for.
// G4  The deadline of an attempt, and the effect itself, are innermost and belong to whoever runs it (InlineExecutor).

import type { PolicyDefinition } from "../kernel/index.js";
import { authorize, type CapabilityAuthorizer } from "./authority/authorizer.js";
import { FlowPolicies } from "./authority/flow-policies.js";
import { PolicyAuthorizer } from "./authority/policy-authorizer.js";
import type { EffectMiddleware } from "./effect.js";
import { type KillSwitch, stopWhenKilled } from "./kill-switch.js";
import type { RingLayer } from "./layer.js";
import { type Budgeting, withinBudgets } from "./quota/within-budgets.js";
import type { Redactor } from "./secrets/redactor.js";

export interface RingParts {
  readonly killSwitch?: KillSwitch | undefined;
  readonly authorizer?: CapabilityAuthorizer | undefined;
  /** For every flow. */
  readonly policies?: readonly PolicyDefinition[] | undefined;
  /** What flows say of themselves. */
  readonly flowPolicies?: FlowPolicies | undefined;
  /** `execution.envelope`. */
  readonly budgeting?: Budgeting | undefined;
  /** `execution.effectMiddleware`, in the order it was given. */
  readonly middleware?: readonly EffectMiddleware[] | undefined;
  /** Of `execution.claimCheck`. */
  readonly claimCheck?: EffectMiddleware | undefined;
  /** `security.secrets.resolver` at work. */
  readonly secrets?: Redactor | undefined;
}

/** Only the layers there is a use for: an empty ring costs nothing. */
export function ring(parts: RingParts): readonly RingLayer[] {
  const authorizer = authorizerOf(parts);
  return [
    ...(parts.killSwitch ? [stopWhenKilled(parts.killSwitch)] : []),
    ...(authorizer ? [authorize(authorizer)] : []),
    ...(parts.budgeting ? [withinBudgets(parts.budgeting)] : []),
    ...(parts.middleware ?? []),
    ...(parts.claimCheck ? [parts.claimCheck] : []),
    ...(parts.secrets ? [parts.secrets] : []),
  ];
}

/** Policies compose under the authorizer: both have to agree. */
function authorizerOf({
  authorizer,
  policies = [],
  flowPolicies = new FlowPolicies(),
}: RingParts): CapabilityAuthorizer | undefined {
  if (policies.length === 0 && flowPolicies.isEmpty) return authorizer;
  return new PolicyAuthorizer({ policies, policiesOf: (id) => flowPolicies.of(id), authorizer });
}
