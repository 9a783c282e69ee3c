// Goal: a crash after any commit, kept or lost, changes nothing about what an execution comes to (C-LIF-01, C-REP-03).
// Method: the process dies after its k-th commit, for every k there is; the log outlives it. Then processes that die
// again and again, so that recovery itself is interrupted.

import { describe, expect, test } from "vitest";
import { essence, runThroughCrashes } from "../support/crashing.js";
import { SCENARIOS, type Scenario } from "../support/scenarios.js";
import { unhandledRejections, World } from "../support/world.js";

async function undisturbed({ make, answers }: Scenario) {
  const world = World.memory();
  const flow = make(world);
  const process = await world.open([flow]);
  await process.start(flow, null);
  const state = await process.finish("x", answers);
  return { state, commits: process.store.commits };
}

const modes = [
  { kept: true, maxResident: 10_000 },
  { kept: false, maxResident: 10_000 },
  { kept: true, maxResident: 0 },
];

describe.each(SCENARIOS)("C-LIF-01, C-REP-03: $name", (scenario) => {
  test.each(modes)(
    "one crash, the commit kept: $kept, resident: $maxResident",
    async ({ kept, maxResident }) => {
      const rejections = unhandledRejections();
      const { state, commits } = await undisturbed(scenario);
      for (let commit = 1; commit <= commits; commit++) {
        const plan = { commit, kept };
        const run = await runThroughCrashes(scenario, (process) => (process === 0 ? plan : undefined), {
          maxResident,
        });
        expect(essence(run.state), `crash after commit ${commit}`).toEqual(essence(state));
        expect(await dense(run.world)).toBe(true);
      }
      expect(rejections).toEqual([]);
    },
  );

  test.each([2, 3, 4])("a crash after every %i commits", async (commit) => {
    const rejections = unhandledRejections();
    const { state } = await undisturbed(scenario);
    const run = await runThroughCrashes(scenario, () => ({ commit, kept: true }));
    expect(essence(run.state)).toEqual(essence(state));
    expect(await dense(run.world)).toBe(true);
    expect(rejections).toEqual([]);
  });
});

describe.each([SCENARIOS[2]!, SCENARIOS[4]!, SCENARIOS[5]!, SCENARIOS[7]!])(
  "C-LIF-01 on LMDB: $name",
  (scenario) => {
    test("a crash after every 2 commits", async () => {
      const { state } = await undisturbed(scenario);
      const run = await runThroughCrashes(scenario, () => ({ commit: 2, kept: true }), {
        world: World.lmdb(),
      });
      expect(essence(run.state)).toEqual(essence(state));
      expect(await dense(run.world)).toBe(true);
    });
  },
);

async function dense(world: World): Promise<boolean> {
  const events = await world.events();
  return events.every(({ sequence }, index) => sequence === index);
}
