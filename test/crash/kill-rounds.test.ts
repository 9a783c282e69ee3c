// Goal: whatever the instant at which a host dies, its executions end as if it had not (C-LIF-01; the crash matrix is ./matrix.ts).
// Method: real child processes over real directories are killed with SIGKILL, by this process at a random moment or by
// themselves at a named point (appended, durable, effect started, effect finished, ...), a few hundred times over. What is held
// against what they leave is in ../soak/lane.ts; one step may not run twice, and where it is found in doubt, the next host looks into
// the outside counter and decides.
//
//   HEDDLE_KILL_ROUNDS=2000 HEDDLE_KILL_SEED=7 npx vitest run test/crash/kill-rounds.test.ts

import { expect, it } from "vitest";
import { Lane } from "../soak/lane.js";
import { drawPoint, type Round } from "../soak/schedule.js";
import { addTally, emptyTally } from "../soak/tally.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { between, type Random } from "./random.js";

const ROUNDS = Number(process.env["HEDDLE_KILL_ROUNDS"] ?? 200);
const SEED = Number(process.env["HEDDLE_KILL_SEED"] ?? Date.now() % 1_000_000);

function drawDeath(random: Random, maxResident: number | undefined): Round {
  const starts = Array.from({ length: between(random, 1, 3) }, () => "mixed" as const);
  const fault =
    random() < 0.5
      ? ({ kind: "moment", afterMs: between(random, 0, 160) } as const)
      : drawPoint(random, starts.length);
  return { fault, starts, actors: 0, pool: false, maxResident };
}

it(`C-LIF-01: ${ROUNDS} deaths by SIGKILL lose nothing, repeat nothing and change nothing (seed ${SEED})`, {
  timeout: 60_000 + ROUNDS * 1_000,
}, async () => {
  const root = temporaryDirectory();
  // The second lane has several partitions and drops every run between its turns: there, each turn is a replay too.
  const lanes = [
    new Lane({ name: "kept", root, seed: SEED, draw: (random) => drawDeath(random, undefined) }),
    new Lane({
      name: "dropped",
      root,
      seed: SEED + 1,
      partitions: 3,
      draw: (random) => drawDeath(random, 0),
    }),
  ];
  await Promise.all(
    lanes.map(async (lane, i) => {
      for (let round = i; round < ROUNDS; round += lanes.length) await lane.round();
      await lane.finish();
    }),
  );
  const sum = emptyTally();
  for (const { tally } of lanes) addTally(sum, tally);
  // A test in which hardly anybody died, or nothing was in flight when somebody did, proves nothing.
  expect(sum.kills, "deaths").toBeGreaterThan(ROUNDS * 0.6);
  expect(sum.doubts, "effects in doubt").toBeGreaterThan(ROUNDS * 0.03);
  expect(sum.doubledAllowed, "effects whose outcome a death took").toBeGreaterThan(ROUNDS * 0.05);
});
