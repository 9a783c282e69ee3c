// PooledEffects: what the module of `workers.effects` exports, made known to the effects of the thread that hosts actors.
//
// Owns       the pool, from `open` to `close`.
// Leaves     threads and calls to the pool, the ring and schemas to whoever runs effects in this thread.
//
// F1  An effect of the module runs in the pool, unless it says `placement: "inline"`: then the module is loaded in this thread
//     too, and it runs here like any other.
// F2  A step names a pooled effect as it names any effect. Middleware runs here, around the call to the pool.
// F3  A call is let into the ring only when there is room for it in the pool, and the room is kept while it is on its way.
//     One that middleware makes beyond that waits for room instead of failing.
// F4  A call whose result is a stream can only be made again by whoever reads it: it is given the way to.

import {
  type Effect,
  type EffectContext,
  type EffectKind,
  type EffectRuntime,
  type RemoteEffect,
  type RemoteTerms,
  StreamResult,
} from "../effects/index.js";
import { type FailureChannels, HeddleError, invariant, type ToolMode } from "../kernel/index.js";
import {
  type EffectDescription,
  EffectPool,
  type EffectPoolOptions,
  type PoolInspection,
  type PoolStats,
  type TuneOptions,
} from "./pool/index.js";
import { type EffectTable, loadEffects } from "./pool/thread/effect-module.js";

const NOTHING: EffectTable = new Map();

export class PooledEffects {
  readonly #effects: EffectRuntime;
  readonly #options: EffectPoolOptions;
  readonly #registered = new Map<string, Effect>();
  #pool: EffectPool | undefined;

  constructor(effects: EffectRuntime, options: EffectPoolOptions) {
    this.#effects = effects;
    this.#options = options;
  }

  /** The pool while it is open. */
  get pool(): EffectPool {
    invariant(this.#pool, "F2", "an effect of the pool was called before the pool was open");
    return this.#pool;
  }

  /** Opens the pool and registers its effects; when anything is wrong it leaves no thread behind and may be tried again. */
  async open(): Promise<void> {
    const pool = await EffectPool.open(this.#options);
    try {
      const here = pool.effects.some(isNeededHere)
        ? await loadEffects(String(this.#options.module))
        : NOTHING;
      for (const description of pool.effects) this.#register(description, here.get(description.id));
      this.#checkPlacements(pool);
    } catch (error) {
      await pool.close({ deadlineMs: 0 });
      throw error;
    }
    this.#pool = pool;
  }

  /** Figures of the pool; undefined before it is open. */
  async stats(): Promise<PoolStats | undefined> {
    return this.#pool?.stats();
  }

  /** What runs, where and for how long. */
  async inspect(): Promise<PoolInspection> {
    return (await this.#pool?.inspect()) ?? [];
  }

  /** @throws CONFIG_INVALID, naming the option */
  tune(limits: TuneOptions): void {
    this.pool.tune(limits);
  }

  async close(deadlineMs: number): Promise<void> {
    await this.#pool?.close({ deadlineMs });
  }

  #register(description: EffectDescription, here: Effect | undefined): void {
    const { id, placement } = description;
    if (this.#registered.has(id)) return; // by an opening that failed later on
    const effect = placement === "inline" && here ? here : new PooledEffect(this, description, here?.errors);
    this.#effects.register(id, effect);
    this.#registered.set(id, effect);
  }

  #checkPlacements({ effects: exported }: EffectPool): void {
    for (const [id, { placement }] of this.#effects.entries()) {
      if (placement !== "pool" || exported.some((effect) => effect.id === id)) continue;
      throw new HeddleError(
        "CONFIG_INVALID",
        `Effect ${id} is registered with placement: "pool", but workers.effects.module ${String(this.#options.module)} does not ` +
          "export it. Export it there, where the pool's threads find it, or leave the placement out.",
        { details: { option: "workers.effects.module", toolId: id } },
      );
    }
  }
}

/** Failure channels have schemas, and schemas do not cross threads. */
function isNeededHere({ placement, channels }: EffectDescription): boolean {
  return placement === "inline" || channels.length > 0;
}

class PooledEffect implements RemoteEffect {
  readonly kind: EffectKind;
  readonly placement = "pool";
  readonly errors: FailureChannels;
  readonly mode?: ToolMode;
  readonly idempotent?: boolean;
  readonly #id: string;
  readonly #home: PooledEffects;

  constructor(home: PooledEffects, description: EffectDescription, errors: FailureChannels = {}) {
    const { id, kind, mode, idempotent } = description;
    this.#home = home;
    this.#id = id;
    this.kind = kind;
    this.errors = errors;
    if (mode !== undefined) this.mode = mode;
    if (idempotent !== undefined) this.idempotent = idempotent;
  }

  get hasRoom(): boolean {
    return this.#home.pool.hasRoom;
  }

  whenRoom(retry: () => void): void {
    const stop = this.#home.pool.onRoom(() => {
      stop();
      retry();
    });
  }

  reserve(): () => void {
    return this.#home.pool.reserve();
  }

  execute(input: unknown, ctx: EffectContext): Promise<unknown> {
    return this.executeWithin(input, ctx, { timeoutMs: undefined, mayRepeat: true });
  }

  executeWithin(input: unknown, ctx: EffectContext, terms: RemoteTerms): Promise<unknown> {
    return this.#call(input, ctx, terms, 0);
  }

  async #call(input: unknown, ctx: EffectContext, terms: RemoteTerms, lostThreads: number): Promise<unknown> {
    const { pool } = this.#home;
    const { timeoutMs, mayRepeat, release, conceal, late, stop } = terms;
    release?.();
    while (!pool.hasRoom) {
      await new Promise<void>((resolve) => this.whenRoom(resolve)); // F3
      ctx.signal.throwIfAborted();
    }
    const result = await pool.call({
      effectId: this.#id,
      input,
      executionId: ctx.executionId,
      workflowId: ctx.workflowId,
      stepId: ctx.stepId,
      toolId: ctx.toolId,
      taskKind: ctx.taskKind,
      attempt: ctx.attempt,
      idempotencyKey: ctx.idempotencyKey,
      principal: ctx.principal,
      signal: ctx.signal,
      stop,
      emit: ctx.emit,
      meter: ctx.meter,
      timeoutMs,
      mayRepeat,
      lostThreads,
      conceal,
      late,
    });
    if (result instanceof StreamResult && mayRepeat)
      result.again = () => this.#call(input, ctx, terms, lostThreads + 1); // F4
    return result;
  }
}
