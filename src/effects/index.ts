export {
  type CapabilityAuthorizer,
  type CapabilityRequest,
  type CapabilityVerdict,
  isAuthorizer,
} from "./authority/authorizer.js";
export { FlowPolicies } from "./authority/flow-policies.js";
export { GrantTable } from "./authority/grant-table.js";
export { PolicyAuthorizer, type PolicyAuthorizerOptions } from "./authority/policy-authorizer.js";
export {
  type ClaimCheckOptions,
  type ClaimCheckStore,
  claimCheckMiddleware,
  type OffloadEvent,
} from "./claim-check/claim-check.js";
export {
  type ClaimCheckConfig,
  checkClaimCheckConfig,
  configuredClaimCheck,
} from "./claim-check/configured.js";
export { type Digest, previewDigest } from "./claim-check/digest.js";
export { type ClaimCheckCodec, type ClaimCheckEnvelope, isClaimCheck } from "./claim-check/envelope.js";
export {
  type ClaimCheckReader,
  resolveClaimCheck,
  resolveClaimCheckBytes,
} from "./claim-check/resolve.js";
export { StreamResult, type StreamResultOptions, streamResult } from "./claim-check/stream-result.js";
export type { StreamOfBytes } from "./claim-check/stream-source.js";
export {
  type Effect,
  type EffectContext,
  type EffectKind,
  type EffectMiddleware,
  type EffectOptions,
  fail,
  isPrincipal,
  LlmEffect,
  type Placement,
  type Principal,
  type PrincipalFacts,
  type RemoteEffect,
  type RemoteTerms,
  ToolEffect,
  tenantOf,
} from "./effect.js";
export { EffectRuntime } from "./effect-runtime.js";
export type { EffectExecutor, Invocation, LateOutcome, Outcome } from "./executor.js";
export { FairQueue } from "./fair-queue.js";
export { InlineExecutor } from "./inline-executor.js";
export { type KillRecord, type KillScope, KillSwitch } from "./kill-switch.js";
export { lateOf } from "./late.js";
export type { RingCheck, RingLayer } from "./layer.js";
export { CallAccount } from "./quota/account.js";
export { type Budget, type BudgetScope, type OnExceeded, readBudgets } from "./quota/budget.js";
export {
  type BudgetLedger,
  type BudgetQuery,
  type BudgetStanding,
  Ledger,
} from "./quota/ledger.js";
export { refusalIn } from "./quota/line.js";
export type { Refusal } from "./quota/refusal.js";
export type { Spender } from "./quota/spender.js";
export { retryHintOf } from "./retry-hint.js";
export { RetryLater } from "./retry-later.js";
export { type RingParts, ring } from "./ring.js";
export { cleanse } from "./secrets/cleanse.js";
export { Redactor, type SecretResolver } from "./secrets/redactor.js";
export { stopError } from "./step-stop.js";
export type { TransientOptions } from "./transient-context.js";
