// Authority: whether an effect may run for whom. Asked before the effect, each time it would run; a denial is the step's
// recorded failure, so a replay never asks again.

import { type Grant, HeddleError, isThenable } from "../../kernel/index.js";
import { isTainted } from "../../kernel/taint.js";
import { isClaimCheck } from "../claim-check/envelope.js";
import type { EffectContext, Principal } from "../effect.js";
import type { RingCheck } from "../layer.js";

/** What an authorizer is asked. */
export interface CapabilityRequest {
  /** The id the effect is found under, or that of a step with a handler. */
  readonly effectId: string;
  /** Which of the things behind the effect, when its input says so (`resourceOf`). */
  readonly resource: string | undefined;
  /** It names one that is not known here: the input is a claim check or tainted, or its `resource` is no text. */
  readonly isResourceHidden?: true;
  readonly executionId: string;
  readonly workflowId: string;
  readonly stepId: string;
  readonly principal: Principal | undefined;
}

export type CapabilityVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason?: string };

export interface CapabilityAuthorizer {
  authorize(request: CapabilityRequest): CapabilityVerdict | Promise<CapabilityVerdict>;
}

export function isAuthorizer(value: unknown): value is CapabilityAuthorizer {
  return typeof (value as { authorize?: unknown } | null | undefined)?.authorize === "function";
}

/** Whether a grant covers this call; see `Grant` for its forms. */
export function covers(grant: Grant, effectId: string, resource: string | undefined): boolean {
  const name = resource === undefined ? effectId : `${effectId}:${resource}`;
  return grant.endsWith("*") ? name.startsWith(grant.slice(0, -1)) : grant === effectId || grant === name;
}

/** Whether a grant covers any of the things behind an effect. */
export function coversSome(grant: Grant, effectId: string): boolean {
  return grant.startsWith(`${effectId}:`) || covers(grant, effectId, undefined);
}

/**
 * The ring's layer: throws EFFECT_DENIED. Fails closed: an authorizer that throws, or answers with anything but a verdict,
 * denies.
 */
export function authorize(authorizer: CapabilityAuthorizer): RingCheck {
  return {
    check(ctx, input) {
      const verdict = verdictOf(authorizer, ctx, input);
      if (verdict instanceof Promise) return verdict.then((given) => admit(given, ctx));
      return admit(verdict, ctx);
    },
  };
}

function admit(verdict: CapabilityVerdict, { toolId, stepId }: EffectContext): void {
  if (verdict.allowed === true) return;
  const why = verdict.reason === undefined ? "" : `: ${verdict.reason}`;
  throw new HeddleError("EFFECT_DENIED", `Effect ${toolId} may not run in step ${stepId}${why}.`, {
    details: { toolId, stepId },
  });
}

function verdictOf(
  authorizer: CapabilityAuthorizer,
  { toolId, executionId, workflowId, stepId, principal }: EffectContext,
  input: unknown,
): CapabilityVerdict | Promise<CapabilityVerdict> {
  const request = { effectId: toolId, ...resourceOf(input), executionId, workflowId, stepId, principal };
  try {
    const answer: unknown = authorizer.authorize(request);
    return isThenable(answer) ? Promise.resolve(answer).then(readVerdict).catch(denial) : readVerdict(answer);
  } catch (error) {
    return denial(error);
  }
}

function readVerdict(answer: unknown): CapabilityVerdict {
  return isVerdict(answer) ? answer : { allowed: false, reason: "the authorizer gave no verdict" };
}

function denial(error: unknown): CapabilityVerdict {
  return {
    allowed: false,
    reason: `the authorizer failed (${error instanceof Error ? error.name : "threw"})`,
  };
}

function isVerdict(value: unknown): value is CapabilityVerdict {
  return typeof (value as { allowed?: unknown } | null | undefined)?.allowed === "boolean";
}

type NamedResource = Pick<CapabilityRequest, "resource" | "isResourceHidden">;
const NONE: NamedResource = { resource: undefined };
const HIDDEN: NamedResource = { resource: undefined, isResourceHidden: true };

/** An input may name the resource it is about under `resource`. What an envelope says beside its content is not what the effect gets. */
function resourceOf(input: unknown): NamedResource {
  if (typeof input !== "object" || input === null) return NONE;
  if (isClaimCheck(input) || isTainted(input)) return HIDDEN;
  const { resource } = input as { readonly resource?: unknown };
  if (typeof resource === "string") return { resource };
  return resource === undefined ? NONE : HIDDEN;
}
