// Goal: whatever fails and in whatever order, the rules of the log and of the pass hold, and everything comes to its end.
// Method: a few hundred seeds, others with every commit; `npm run sim -- --seeds 10000` takes more. See src/testing/sim.

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { unhandledRejections } from "../support/world.js";
import { judge, report, sceneOf } from "./seed.js";

const SEEDS = 200;

/** Another range of seeds for every commit; the same one where there is no repository. */
function firstSeed(): number {
  try {
    const hash = execFileSync("git", ["rev-parse", "--short=7", "HEAD"], { encoding: "utf8" });
    return Number.parseInt(hash, 16);
  } catch {
    return 1;
  }
}

test("C-LIF-01, C-REP-03: seeds hold, and come out the same twice", { timeout: 120_000 }, async () => {
  const rejections = unhandledRejections();
  const first = firstSeed();
  for (let seed = first; seed < first + SEEDS; seed++) {
    const finding = await judge(sceneOf(seed));
    expect(finding && report(finding)).toBeUndefined();
  }
  expect(rejections).toEqual([]);
});
