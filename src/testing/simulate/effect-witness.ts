// EffectWitness: what the effects of a user's flow did, attempt by attempt: how often each ran, and whether it asked for its key.
//
// Owns       the calls of one schedule.
// Leaves     what is wrong about them to simulate.ts.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Invocation } from "../../effects/index.js";
import type { StepHandlerContext } from "../../kernel/index.js";
import { boundTo, withTask } from "../sim/with-task.js";

/** What replaces an effect: by the id of its step, or of its tool. */
export type SimulatedEffect = (input: never, ctx: StepHandlerContext) => unknown;
export type SimulatedEffects = Readonly<Record<string, SimulatedEffect>>;

/** All runs of one request. */
export interface EffectRuns {
  readonly stepId: string;
  runs: number;
  /** Runs that threw: they are known to have failed, and another was to be expected. */
  failures: number;
  hasAskedForKey: boolean;
  /** Whether its step, or what it is, says that it may be repeated. */
  mayRepeat: boolean;
}

/** Where the code that runs just now belongs: to an effect, or to a flow. */
const inEffect = new AsyncLocalStorage<true>();

export function isInEffect(): boolean {
  return inEffect.getStore() === true;
}

export class EffectWitness {
  readonly #effects: SimulatedEffects;
  readonly #runs = new Map<string, EffectRuns>();
  /** Effects that run in real time, and were not waited for in vain. */
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(effects: SimulatedEffects) {
    this.#effects = effects;
  }

  /** Requests whose effect ran again though it was not known to have failed, and could not tell that it was the same. */
  get doubled(): EffectRuns | undefined {
    for (const entry of this.#runs.values())
      if (entry.runs - entry.failures > 1 && !entry.hasAskedForKey && !entry.mayRepeat) return entry;
    return undefined;
  }

  get underWay(): readonly Promise<unknown>[] {
    return [...this.#underWay];
  }

  /** Waits no longer for these. */
  leave(promises: readonly Promise<unknown>[]): void {
    for (const promise of promises) this.#underWay.delete(promise);
  }

  /** The invocation with its handler watched, or replaced. */
  readonly shown = (invocation: Invocation): Invocation => {
    const { task, toolId, stepId, taskKind } = invocation;
    const effect = this.#effects[task.id] ?? this.#effects[toolId] ?? task.handler;
    if (!effect) return invocation;
    const runs = this.#runsOf(invocation.idempotencyKey, stepId);
    runs.mayRepeat ||= task.idempotent === true || taskKind === "llm";
    const handler = (input: unknown, ctx: StepHandlerContext): unknown => {
      runs.runs++;
      return inEffect.run(true, () => this.#watched(runs, () => effect(input as never, askedFor(ctx, runs))));
    };
    return withTask(invocation, { ...task, handler });
  };

  #runsOf(key: string, stepId: string): EffectRuns {
    let runs = this.#runs.get(key);
    if (!runs) {
      runs = { stepId, runs: 0, failures: 0, hasAskedForKey: false, mayRepeat: false };
      this.#runs.set(key, runs);
    }
    return runs;
  }

  #watched(runs: EffectRuns, call: () => unknown): unknown {
    let result: unknown;
    try {
      result = call();
    } catch (error) {
      runs.failures++;
      throw error;
    }
    if (!(result instanceof Promise)) return result;
    this.#underWay.add(result);
    result.then(
      () => this.#underWay.delete(result),
      () => {
        runs.failures++;
        this.#underWay.delete(result);
      },
    );
    return result;
  }
}

/** The same context, that notes whether its key is read. */
function askedFor(ctx: StepHandlerContext, runs: EffectRuns): StepHandlerContext {
  return new Proxy(ctx, {
    get(target, property) {
      if (property === "idempotencyKey") runs.hasAskedForKey = true;
      return boundTo(target, property);
    },
  });
}
