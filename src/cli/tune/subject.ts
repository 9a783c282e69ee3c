// Subject: the effect that is measured. Opens pools of the user's own module, finds the effect in it, and calls it as an
// execution would, each call with an idempotency key of its own.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { distance } from "fastest-levenshtein";
import { HeddleError } from "../../kernel/errors.js";
import { type EffectDescription, EffectPool, type EffectPoolOptions } from "../../workers/pool/index.js";
import { CommandFailure } from "../failure.js";
import { nearest } from "../find-execution.js";
import { inALine } from "./trial.js";

const NAMED_MAX = 20;
/** Of many inputs these many are tried first. */
const PROBED_MAX = 16;

export interface SubjectOptions {
  /** As it was typed: a path, or a file: URL. */
  readonly module: string;
  readonly effectId: string;
  readonly inputs: readonly unknown[];
}

export class Subject {
  readonly effectId: string;
  readonly #module: string;
  readonly #url: URL;
  readonly #inputs: readonly unknown[];
  #kind: EffectDescription["kind"] = "tool";
  readonly #run = `heddle-tune-${randomUUID()}`;
  #calls = 0;

  constructor({ module, effectId, inputs }: SubjectOptions) {
    this.effectId = effectId;
    this.#module = module;
    this.#url = module.startsWith("file:") ? new URL(module) : pathToFileURL(resolve(module));
    this.#inputs = inputs;
  }

  /** How many calls `probe` makes. */
  get probes(): number {
    return Math.min(this.#inputs.length, PROBED_MAX);
  }

  /** Loads the module, and calls nothing. Throws CONFIG_INVALID or EFFECT_UNKNOWN. */
  async describe(): Promise<EffectDescription> {
    if (!existsSync(this.#url)) {
      throw new CommandFailure(1, `There is no file ${this.#module} for --module.`, "CONFIG_INVALID");
    }
    const pool = await this.open({ maxThreads: 1 });
    const { effects } = pool;
    await pool.close({ deadlineMs: 0 });
    const effect = effects.find(({ id }) => id === this.effectId);
    if (!effect) throw this.#unknown(effects.map(({ id }) => id));
    this.#kind = effect.kind;
    return effect;
  }

  async open(options: Partial<EffectPoolOptions>): Promise<EffectPool> {
    try {
      return await EffectPool.open({ ...options, module: this.#url });
    } catch (error) {
      if (!(error instanceof HeddleError)) throw error;
      const words = error.message.replace(
        `workers.effects.module ${this.#url.href}`,
        `--module ${this.#module}`,
      );
      throw new CommandFailure(1, words, error.code);
    }
  }

  readonly call = (pool: EffectPool): Promise<unknown> => {
    const { effectId } = this;
    const number = this.#calls++;
    const stepId = `call#${number}`;
    return pool.call({
      effectId,
      input: this.#inputs[number % this.#inputs.length],
      executionId: this.#run,
      workflowId: "heddle-tune",
      stepId,
      attempt: 1,
      toolId: effectId,
      taskKind: this.#kind,
      idempotencyKey: `${this.#run}/${stepId}`,
    });
  };

  /** One call of each input, so that nothing is measured that does not work. Ends early when the signal says so. */
  async probe(signal: AbortSignal): Promise<void> {
    const pool = await this.open({ maxThreads: 1 });
    const aborted = new Promise<void>((stop) =>
      signal.addEventListener("abort", () => stop(), { once: true }),
    );
    try {
      while (this.#calls < this.probes && !signal.aborted) await Promise.race([this.call(pool), aborted]);
    } catch (error) {
      throw this.#failed(error);
    } finally {
      await pool.close({ deadlineMs: 0 });
    }
  }

  #failed(error: unknown): CommandFailure {
    const which = this.#inputs.length === 1 ? "the input" : `input ${this.#calls} of ${this.#inputs.length}`;
    const code = error instanceof HeddleError ? error.code : undefined;
    const message = `Effect ${this.effectId} fails on ${which}: ${inALine(error)}\nIt was called for this, and nothing was measured.`;
    return new CommandFailure(1, message, code);
  }

  #unknown(ids: readonly string[]): CommandFailure {
    const away = (id: string): number => distance(id.toLowerCase(), this.effectId.toLowerCase());
    const sorted = ids.toSorted((a, b) => away(a) - away(b) || (a < b ? -1 : 1));
    const [near] = nearest(this.effectId, ids);
    const complaint = `${this.#module} exports no effect ${this.effectId}${ids.length === 0 ? ", nor any other" : ""}.`;
    const guess = near === undefined ? [] : [`Did you mean ${near}?`];
    const list = sorted.slice(0, NAMED_MAX).map((id) => `  ${id}`);
    const known = ids.length === 0 ? [] : ["It exports, the nearest first:", ...list];
    const more = ids.length > NAMED_MAX ? ["  and more"] : [];
    return new CommandFailure(1, [complaint, ...guess, ...known, ...more].join("\n"), "EFFECT_UNKNOWN");
  }
}
