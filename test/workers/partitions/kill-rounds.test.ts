// C-LIF-01 in threads, the short form of test/crash: hosts with two partition threads over four partitions are killed at
// random moments and at named points, or one of their threads ends by itself.
//
// KILL_ROUNDS and SEED make it longer and other.

import { expect, it } from "vitest";
import { between, pick, type Random } from "../../crash/random.js";
import { Lane } from "../../soak/lane.js";
import { drawPoint, drawThreadDeath, type Fault, type Round } from "../../soak/schedule.js";
import { temporaryDirectory } from "./world.js";

const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 24);
const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const STARTS = ["mixed", "mixed", "mixed"] as const;

function drawDeath(random: Random): Round {
  const faults: readonly (() => Fault)[] = [
    () => ({ kind: "moment", afterMs: between(random, 0, 400) }),
    () => drawPoint(random, STARTS.length),
    () => drawThreadDeath(random),
  ];
  const maxResident = between(random, 0, 1) * 10_000;
  return { fault: pick(random, faults)(), starts: STARTS, actors: 2, pool: false, maxResident };
}

it(`C-LIF-01: ${ROUNDS} deaths of processes and threads lose nothing, repeat nothing and change nothing (seed ${SEED})`, {
  timeout: 60_000 + ROUNDS * 5_000,
}, async () => {
  const root = temporaryDirectory();
  const lane = new Lane({ name: "threads", root, seed: SEED, partitions: 4, draw: drawDeath });
  for (let round = 0; round < ROUNDS; round++) await lane.round();
  await lane.finish();
  expect(lane.tally.kills, "deaths of processes").toBeGreaterThan(ROUNDS * 0.3);
  expect(lane.tally.threads, "deaths of threads").toBeGreaterThan(0);
});
