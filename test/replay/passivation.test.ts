// Goal: keeping an actor in memory and rebuilding it from its log before every move are the same thing (A2).
// Method: every scenario runs twice under one clock and one source of randomness, once with everything resident and once
// with nothing, and the two logs are compared event by event, times included.

import { describe, expect, test } from "vitest";
import { SCENARIOS, type Scenario } from "../support/scenarios.js";
import { unhandledRejections, World } from "../support/world.js";

async function logOf({ make, answers }: Scenario, maxResident: number) {
  const world = World.memory();
  const flow = make(world);
  const process = await world.open([flow], { maxResident });
  await process.start(flow, null);
  const state = await process.finish("x", answers);
  const leftovers = await process.store.timers();
  return { state, events: await world.events(), runs: new Map(world.runs), leftovers };
}

describe("A2, C-REP-03: a passivated execution writes the log of a resident one", () => {
  test.each(SCENARIOS)("$name", async (scenario) => {
    const rejections = unhandledRejections();
    const resident = await logOf(scenario, 10_000);
    const passivated = await logOf(scenario, 0);
    expect(passivated.events).toEqual(resident.events);
    expect(passivated.state).toEqual(resident.state);
    expect(passivated.runs).toEqual(resident.runs);
    expect(rejections).toEqual([]);
  });

  test.each(SCENARIOS)("$name leaves no timer behind", async (scenario) => {
    for (const maxResident of [10_000, 0]) expect((await logOf(scenario, maxResident)).leftovers).toEqual([]);
  });
});
