// Reasoning of models, as an app says it for all of its agents: where the words are kept, and whether they may be dropped.

// Not through the door of agents: with loops comes zod, which an app without any does not load.
import type { ReasoningDefaults } from "../agent/evidence/defaults.js";
import type { ReasoningStore } from "../agent/evidence/sealed-text.js";
import { reasoningWarning, withReasoningDefaults } from "../agent/model/model-effect.js";
import { requireReasoningContinuation } from "../agent/routing/continuation-rule.js";
import { type Effect, EffectRuntime, type RingLayer } from "../effects/index.js";
import { type ContentStore, checkFlag, invalidOption, refuseStrangers } from "../kernel/index.js";
import { isRecord } from "./option-checks.js";

/** False: nothing of it is kept, and nobody is warned. */
export type ReasoningConfig =
  | false
  | {
      /** Where the words are kept; the log has references and digests. "log": the content store beside the log. */
      readonly store?: ReasoningStore | "log" | undefined;
      /** Whether `onDelta` of a model effect gets reasoning while it is generated. Default false. */
      readonly live?: boolean | undefined;
      /** Refuses agents that would drop a model's reasoning, from now on and in all apps of the process. Default false. */
      readonly requireContinuation?: boolean | undefined;
    };

const OPTIONS = ["store", "live", "requireContinuation"];

export function checkReasoning(config: unknown): void {
  if (config === undefined || config === false) return;
  const option = "observability.reasoning";
  if (!isRecord(config)) throw invalidOption(option, "must be false, or an object as { store }");
  refuseStrangers(`${option}.`, config, OPTIONS);
  const { store, live, requireContinuation } = config;
  const { put, get } = (store ?? {}) as Partial<ReasoningStore>;
  if (store !== undefined && store !== "log" && (typeof put !== "function" || typeof get !== "function"))
    throw invalidOption(`${option}.store`, 'must be a content store, or "log" for the one beside the log');
  checkFlag(`${option}.live`, live);
  checkFlag(`${option}.requireContinuation`, requireContinuation);
}

/** Whether words go into the content store beside the log. */
export function keepsReasoning(config: ReasoningConfig | undefined): boolean {
  return config !== undefined && config !== false && config.store === "log";
}

/** What the app says to the effects it registers, once it is built. */
export function reasoningDefaults(
  config: ReasoningConfig | undefined,
  contentStore: ContentStore,
): ReasoningDefaults | undefined {
  if (config === undefined || config === false) return config;
  const { store, live, requireContinuation } = config;
  if (requireContinuation) requireReasoningContinuation();
  return { store: store === "log" ? contentStore : store, live };
}

/** The effects of an app: agents' models among them are told what it says of reasoning. */
export class AppEffects extends EffectRuntime {
  readonly #defaults: ReasoningDefaults | undefined;
  /** What was registered, and what stands for it: the same effect may be registered again. */
  readonly #told = new WeakMap<Effect, Effect>();

  constructor(layers: readonly RingLayer[], defaults: ReasoningDefaults | undefined) {
    super(layers);
    this.#defaults = defaults;
  }

  override register<TIn, TOut>(id: string, effect: Effect<TIn, TOut>): void {
    if (this.#defaults === undefined || typeof effect?.execute !== "function")
      return super.register(id, effect);
    const told = this.#told.get(effect) ?? withReasoningDefaults(effect, this.#defaults);
    this.#told.set(effect, told);
    super.register(id, told);
  }

  /** Says once of each effect that drops what its model thinks, where nobody said it should. */
  warnOfDropped(warn: (message: string) => void): void {
    for (const [id, effect] of this.entries()) {
      const warning = reasoningWarning(id, effect, this.#defaults);
      if (warning !== undefined) warn(warning);
    }
  }
}
