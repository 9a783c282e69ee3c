// TransientContext: what an effect is told that is called outside of executions. Very many are made and little of each is
// asked for, so the rest is made when it is.

import type { TaskKind } from "../kernel/index.js";
import type { EffectContext, EffectKind, Principal } from "./effect.js";

export interface TransientOptions {
  readonly signal?: AbortSignal | undefined;
  /** Who the call is made for. */
  readonly principal?: Principal | undefined;
  /** Gets what the effect emits; without it that is dropped. */
  readonly emit?: ((eventType: string, payload: unknown) => void) | undefined;
}

const OUTSIDE = "transient";
const dropped = (): void => {};

export class TransientContext implements EffectContext {
  readonly toolId: string;
  readonly #kind: EffectKind;
  readonly #options: TransientOptions | undefined;
  #signal: AbortSignal | undefined;

  constructor(toolId: string, kind: EffectKind, options: TransientOptions | undefined) {
    this.toolId = toolId;
    this.#kind = kind;
    this.#options = options;
  }

  get executionId(): string {
    return OUTSIDE;
  }

  get workflowId(): string {
    return OUTSIDE;
  }

  get stepId(): string {
    return this.toolId;
  }

  get taskKind(): TaskKind {
    return this.#kind;
  }

  get principal(): Principal | undefined {
    return this.#options?.principal;
  }

  get attempt(): number {
    return 1;
  }

  /** No two calls are the same request: nothing of them is kept that could be repeated. */
  get idempotencyKey(): string {
    return `${OUTSIDE}/${this.toolId}`;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#options?.signal ?? new AbortController().signal;
    return this.#signal;
  }

  /** Nothing of the call is kept, so nothing of it is counted. */
  get meter(): EffectContext["meter"] {
    return dropped;
  }

  get emit(): EffectContext["emit"] {
    return this.#options?.emit ?? dropped;
  }
}
