// Goal: the simulator finds what it is there to find. Method: break one rule at a time, and count the seeds until it notices.

import { describe, expect, test } from "vitest";
import { activeFaults } from "../../src/testing/sim/faults.js";
import { SimRandom } from "../../src/testing/sim/random.js";
import { CANARIES, type Canary } from "./canaries.js";
import { judge, play, sceneOf, shrink } from "./seed.js";

const SEEDS_MAX = 500;

async function notice({ tamper, plant }: Canary): Promise<{ seed: number; rule: string } | undefined> {
  const takeBack = plant?.();
  try {
    for (let seed = 1; seed <= SEEDS_MAX; seed++) {
      const { violation } = await play(sceneOf(seed), tamper);
      if (violation) return { seed, rule: violation.rule };
    }
    return undefined;
  } finally {
    takeBack?.();
  }
}

describe("a rule that is broken is noticed within 500 seeds", { timeout: 120_000 }, () => {
  test.each(CANARIES)("$breaks", async (canary) => {
    const found = await notice(canary);
    expect(found).toBeDefined();
    expect(canary.noticedAs).toContain(found?.rule);
  });

  test("a simulation that depends on more than its seed", async () => {
    const { below } = SimRandom.prototype;
    let calls = 0;
    SimRandom.prototype.below = function (end) {
      const drawn = below.call(this, end);
      return ++calls % 997 === 0 ? (drawn + 1) % end : drawn;
    };
    try {
      let found: string | undefined;
      for (let seed = 1; seed <= SEEDS_MAX && !found; seed++)
        found = (await judge(sceneOf(seed)))?.violation.rule;
      expect(found).toBe("same seed");
    } finally {
      SimRandom.prototype.below = below;
    }
  });
});

test("a seed that does not hold is cut down to the least that shows it", async () => {
  const canary = CANARIES.find(({ noticedAs }) => noticedAs[0] === "E3")!;
  const found = await notice(canary);
  const scene = sceneOf(found!.seed);
  const least = await shrink(scene, found!.rule, { tamper: canary.tamper });
  expect((await play(least, canary.tamper)).violation?.rule).toBe("E3");
  expect(JSON.stringify(least).length).toBeLessThan(JSON.stringify(scene).length);
  expect(activeFaults(least.faults).length).toBeLessThan(activeFaults(scene.faults).length);
});
