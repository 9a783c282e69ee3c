import { describe, it } from "vitest";
import { EffectRuntime } from "../../src/effects/index.js";
import { effectPoolSuite, executorOf, type PoolProgram } from "../../src/testing/index.js";
import { NO_FAULTS } from "../../src/testing/sim/faults.js";
import { SimRandom } from "../../src/testing/sim/random.js";
import { Scheduler } from "../../src/testing/sim/scheduler.js";
import { SimExecutor } from "../../src/testing/sim/sim-executor.js";
import { PooledEffects } from "../../src/workers/index.js";

/** Threads run the built package. */
const BUILT = new URL("../../dist/", import.meta.url);

function inline({ effects }: PoolProgram) {
  const runtime = new EffectRuntime();
  for (const [id, effect] of Object.entries(effects)) runtime.register(id, effect);
  return executorOf(runtime);
}

effectPoolSuite({
  name: "InlineExecutor",
  describe,
  it,
  capabilities: { workers: false },
  open: async (program) => ({ executor: inline(program), close: async () => undefined }),
});

/** Its time is simulated: here it passes as fast as it can, beside the time of the effects. */
effectPoolSuite({
  name: "SimExecutor, half of its outcomes late",
  describe,
  it,
  capabilities: { workers: false },
  async open(program) {
    const random = new SimRandom(1);
    const scheduler = new Scheduler(random);
    const executor = new SimExecutor({
      inner: inline(program),
      scheduler,
      random,
      process: scheduler.lane("process"),
      faults: () => ({ ...NO_FAULTS, lateResult: 0.5 }),
      observer: { see: () => {} },
      isFenced: () => false,
      shown: (invocation) => invocation,
    });
    const ticking = setInterval(() => {
      while (scheduler.tick());
    }, 1);
    return { executor, close: async () => clearInterval(ticking) };
  },
});

for (const maxThreads of [1, 2]) {
  effectPoolSuite({
    name: `EffectPool, ${maxThreads === 1 ? "one thread" : "two threads"}`,
    describe,
    it,
    capabilities: { workers: true },
    async open({ callsMax }) {
      const threads = callsMax === undefined ? maxThreads : Math.min(maxThreads, callsMax);
      const runtime = new EffectRuntime();
      const pool = new PooledEffects(runtime, {
        module: new URL("testing/pool-cases/effects.js", BUILT),
        entry: new URL("workers/effects.worker.cjs", BUILT),
        maxThreads: threads,
        graceMs: 100,
        ...(callsMax !== undefined && { callsPerThread: callsMax / threads }),
      });
      await pool.open();
      return { executor: executorOf(runtime), close: (deadlineMs) => pool.close(deadlineMs) };
    },
  });
}
