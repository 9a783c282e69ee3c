// The conformance suite of effect pools: what actors rely on in an EffectExecutor, wherever it runs effects.
//
// It takes `describe` and `it` from any runner that has them and asserts with node:assert, as the suites of stores do. Every case
// brings its own executor, and after every case one rule is looked at again: nothing was settled twice, nor was anything left.

import { systemClock } from "../app/clock.js";
import { type EffectExecutor, type EffectRuntime, InlineExecutor } from "../effects/index.js";
import { VALUE_LIMITS } from "../kernel/index.js";
import { Bench, type PoolCapabilities, type PoolProgram, type PoolUnderTest } from "./pool-cases/bench.js";
import { closingTests } from "./pool-cases/closing.js";
import { poolEffects } from "./pool-cases/effects.js";
import { failureTests } from "./pool-cases/failures.js";
import { fairnessTests } from "./pool-cases/fairness.js";
import { lossTests } from "./pool-cases/losses.js";
import { outcomeTests } from "./pool-cases/outcomes.js";
import { stoppingTests } from "./pool-cases/stopping.js";
import { borderTests, valueTests } from "./pool-cases/values.js";
import type { SuiteRunner } from "./store-cases/bench.js";

export interface EffectPoolSuiteOptions extends SuiteRunner {
  readonly name: string;
  /** Called for every case. */
  readonly open: (program: PoolProgram) => Promise<PoolUnderTest>;
  readonly capabilities: PoolCapabilities;
}

const MODULE = new URL("./pool-cases/effects.js", import.meta.url);

export function effectPoolSuite({ name, describe, it, open, capabilities }: EffectPoolSuiteOptions): void {
  const test = (title: string, run: (bench: Bench) => Promise<void>, callsMax?: number): void =>
    it(title, async () => {
      const program = { effects: poolEffects, module: MODULE, ...(callsMax !== undefined && { callsMax }) };
      const bench = new Bench(await open(program));
      try {
        await run(bench);
        await bench.close();
        bench.checkSettled(capabilities);
      } finally {
        await bench.dispose();
      }
    });
  describe(`${name}: effect pool`, () => {
    describe("what a call comes to", () => outcomeTests(test));
    describe("values (C-EFF-04)", () => valueTests(test));
    describe("failures (C-EFF-06)", () => failureTests(test));
    describe("aborts and time limits", () => stoppingTests(test));
    if (!capabilities.workers) return;
    describe("values that cross to a worker (C-EFF-04)", () => borderTests(test));
    describe("a worker that is lost (C-EFF-01)", () => lossTests(test));
    describe("executions that want more than there is (C-EFF-03)", () => fairnessTests(test));
    describe("closing", () => closingTests(test));
  });
}

/** The executor that apps put around registered effects: for suites of pools that are registered as effects. */
export function executorOf(effects: EffectRuntime): EffectExecutor {
  return new InlineExecutor(effects, systemClock(), VALUE_LIMITS);
}
