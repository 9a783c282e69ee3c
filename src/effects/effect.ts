// Effects: what touches the world, registered by id and run under the ring.

import {
  type FailureChannels,
  HeddleError,
  type RetryPolicy,
  type StepHandlerContext,
  type TaskKind,
  type ToolMode,
  TypedFailure,
} from "../kernel/index.js";
import type { CallAccount } from "./quota/account.js";

/** Who an execution acts for. Opaque to heddle but for the two names it looks for. */
export type Principal = string | PrincipalFacts;

export interface PrincipalFacts {
  readonly actor?: string;
  readonly tenant?: string;
  readonly [fact: string]: unknown;
}

/** Whether it can be told who it is. A name that is none would be nobody to every budget, grant and kill switch. */
export function isPrincipal(value: unknown): value is Principal {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return isName(value);
  const { actor, tenant } = value as { readonly actor?: unknown; readonly tenant?: unknown };
  return (actor === undefined || isName(actor)) && (tenant === undefined || isName(tenant));
}

/** Of a principal, a tenant or a flow. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The tenant it acts for, if it says so. */
export function tenantOf(principal: unknown): string | undefined {
  const { tenant } = (principal ?? {}) as { readonly tenant?: unknown };
  return isName(tenant) ? tenant : undefined;
}

export type EffectKind = "tool" | "llm" | "human" | "a2a";

/** What an effect is told about the call it serves: what a handler is told, and under which name it was found. */
export interface EffectContext extends StepHandlerContext {
  /** The id the effect is found under: the task's toolId, or else its own id. */
  readonly toolId: string;
  readonly taskKind: TaskKind;
  /** Who the execution acts for, as `start` was told. */
  readonly principal?: Principal | undefined;
  /** Attempts of this step that failed before this one. Absent outside an execution, where nothing counts them. */
  readonly failures?: number | undefined;
  /**
   * Whether a result holds what may not be read: it is recorded sealed, and put away nowhere else. Absent where nothing is.
   */
  readonly isPrivate?: ((result: unknown) => boolean) | undefined;
  /** What the step itself says of retries. Middleware that retries leaves it to that. */
  readonly retry?: RetryPolicy | undefined;
  /** Where it is written down what the call uses. Absent where nobody counts. */
  readonly account?: CallAccount | undefined;
}

/** In the thread of its execution, or on a thread of the pool (`workers.effects`). */
export type Placement = "inline" | "pool";

export interface EffectOptions {
  /** Failure channels the effect declares, for every step that runs it. */
  readonly errors?: FailureChannels;
  /** On which side of the log the effect belongs. Undeclared: both. */
  readonly mode?: ToolMode;
  /** False: it may not be repeated when nobody knows whether it did its work. Default true. A task may say otherwise. */
  readonly idempotent?: boolean;
  /** Default: "pool" for what the module of `workers.effects` exports, "inline" for everything else. */
  readonly placement?: Placement;
}

export interface Effect<TIn = unknown, TOut = unknown> {
  readonly kind: EffectKind;
  readonly errors?: FailureChannels;
  readonly mode?: ToolMode;
  readonly idempotent?: boolean;
  readonly placement?: Placement;
  // A method, so that effects of a narrow input can be registered beside others.
  execute(input: TIn, ctx: EffectContext): TOut | Promise<TOut>;
}

/** Somewhere else than the thread of an execution, where there may be no room just now. */
export interface Elsewhere {
  readonly hasRoom: boolean;
  /** Calls back once, when there may be room. */
  whenRoom(retry: () => void): void;
}

/** An effect that runs somewhere else. */
export interface RemoteEffect extends Effect, Elsewhere {
  /** Keeps room for a call that is about to go through the ring. Returns the way to give it back; to do so twice is harmless. */
  reserve(): () => void;
  executeWithin(input: unknown, ctx: EffectContext, terms: RemoteTerms): Promise<unknown>;
}

export interface RemoteTerms {
  /** Gives back the room that was kept for this call, now that it is there. */
  readonly release?: () => void;
  /** Counted from when it begins to run there. */
  readonly timeoutMs: number | undefined;
  /** Aborts the signal of its context too; then its outcome is awaited all the same. */
  readonly stop?: AbortSignal;
  /** What may be seen of a failure that others are told of as well: that of the thread the effect runs in. */
  readonly conceal?: (failure: unknown) => unknown;
  /** Whether it may be begun again after it was begun and its outcome lost. */
  readonly mayRepeat: boolean;
  /** Hears what an effect came to that went on after its call was aborted or out of time. */
  readonly late?: (failure: { readonly error: unknown } | undefined) => void;
}

export function isRemote(effect: Effect | undefined): effect is RemoteEffect {
  return effect !== undefined && "executeWithin" in effect;
}

type EffectFunction<TIn, TOut> = (input: TIn, ctx: EffectContext) => TOut | Promise<TOut>;

abstract class FunctionEffect<TIn, TOut> implements Effect<TIn, TOut> {
  abstract readonly kind: EffectKind;
  readonly errors: FailureChannels;
  readonly mode?: ToolMode;
  readonly idempotent?: boolean;
  readonly placement?: Placement;
  readonly #call: EffectFunction<TIn, TOut>;

  constructor(call: EffectFunction<TIn, TOut>, options: EffectOptions = {}) {
    if (typeof call !== "function")
      throw new HeddleError("CONFIG_INVALID", "An effect is made of a function.");
    this.#call = call;
    this.errors = options.errors ?? {};
    if (options.mode !== undefined) this.mode = options.mode;
    if (options.idempotent !== undefined) this.idempotent = options.idempotent;
    if (options.placement !== undefined) this.placement = options.placement;
  }

  execute(input: TIn, ctx: EffectContext): TOut | Promise<TOut> {
    return this.#call(input, ctx);
  }
}

/** Inputs of most tools are objects: a function that says nothing of its input gets one of unknown fields. */
type UnknownFields = Readonly<Record<string, unknown>>;

export class ToolEffect<TIn = UnknownFields, TOut = unknown> extends FunctionEffect<TIn, TOut> {
  readonly kind = "tool";
}

export class LlmEffect<TIn = UnknownFields, TOut = unknown> extends FunctionEffect<TIn, TOut> {
  readonly kind = "llm";
}

/** Ends an effect on one of its declared failure channels. */
export function fail(channel: string, payload: unknown): never {
  throw new TypedFailure(channel, payload);
}

/**
 * Wraps every effect. Runs when the effect runs, never on replay. Call `next` once, and again only after it has failed;
 * return what it gives or something else to record. Without `next` the effect does not run. `next(input, ctx)` goes on with
 * another input or context.
 *
 * `next` throws NEXT_MISUSED when the call before has not failed, or when the attempt is over.
 */
export type EffectMiddleware = (
  ctx: EffectContext,
  input: unknown,
  next: (input?: unknown, ctx?: EffectContext) => Promise<unknown>,
) => Promise<unknown>;
