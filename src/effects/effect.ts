// Effects: what touches the world, registered by id and run under the ring.

import {
  type FailureChannels,
  HeddleError,
  type StepHandlerContext,
  type TaskKind,
  TypedFailure,
} from "../kernel/index.js";

export type EffectKind = "tool" | "llm" | "human" | "a2a";

/** What an effect is told about the call it serves: what a handler is told, and under which name it was found. */
export interface EffectContext extends StepHandlerContext {
  /** The id the effect is found under: the task's toolId, or else its own id. */
  readonly toolId: string;
  readonly taskKind: TaskKind;
}

export interface EffectOptions {
  /** Failure channels the effect declares, for every step that runs it. */
  readonly errors?: FailureChannels;
}

export interface Effect<TIn = unknown, TOut = unknown> {
  readonly kind: EffectKind;
  readonly errors?: FailureChannels;
  // A method, so that effects of a narrow input can be registered beside others.
  execute(input: TIn, ctx: EffectContext): TOut | Promise<TOut>;
}

type EffectFunction<TIn, TOut> = (input: TIn, ctx: EffectContext) => TOut | Promise<TOut>;

abstract class FunctionEffect<TIn, TOut> implements Effect<TIn, TOut> {
  abstract readonly kind: EffectKind;
  readonly errors: FailureChannels;
  readonly #call: EffectFunction<TIn, TOut>;

  constructor(call: EffectFunction<TIn, TOut>, options: EffectOptions = {}) {
    if (typeof call !== "function")
      throw new HeddleError("CONFIG_INVALID", "An effect is made of a function.");
    this.#call = call;
    this.errors = options.errors ?? {};
  }

  execute(input: TIn, ctx: EffectContext): TOut | Promise<TOut> {
    return this.#call(input, ctx);
  }
}

export class ToolEffect<TIn = unknown, TOut = unknown> extends FunctionEffect<TIn, TOut> {
  readonly kind = "tool";
}

export class LlmEffect<TIn = unknown, TOut = unknown> extends FunctionEffect<TIn, TOut> {
  readonly kind = "llm";
}

/** Ends an effect on one of its declared failure channels. */
export function fail(channel: string, payload: unknown): never {
  throw new TypedFailure(channel, payload);
}

/**
 * Wraps every journaled effect. Runs when the effect runs, never on replay. Call `next` at most once for each attempt you
 * mean to make, and return what it gives or something else to record.
 */
export type EffectMiddleware = (
  ctx: EffectContext,
  input: unknown,
  next: (input?: unknown) => Promise<unknown>,
) => Promise<unknown>;
