// The short form of `npm run soak`, and proof that it notices: a soak that finds nothing has to be one that would.

import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { Lane } from "./lane.js";
import type { Fault, Round } from "./schedule.js";
import { addTally, emptyTally } from "./tally.js";

const SEED = Number(process.env["HEDDLE_SOAK_SEED"] ?? Date.now() % 1_000_000);
const ROUNDS = 8;

const roundOf = (fault: Fault): Round => ({
  fault,
  starts: ["mixed", "stopped"],
  actors: 0,
  pool: false,
  maxResident: undefined,
});

/** A lane whose first host dies when its first start is acknowledged, and whose second is left alone. */
function twoRounds(root: string): Lane {
  const faults: Fault[] = [{ kind: "point", point: "started", count: 1 }, { kind: "none" }];
  return new Lane({ name: "l", root, seed: 1, draw: () => roundOf(faults.shift()!) });
}

describe("soak", () => {
  it(`C-LIF-01, C-LOG-02, C-EFF-03: ${ROUNDS} rounds a lane of kills, stops, second owners and full disks are clean (seed ${SEED})`, {
    timeout: 180_000,
  }, async () => {
    const root = temporaryDirectory();
    const lanes = ["a", "b"].map((name, i) => new Lane({ name, root, seed: SEED + i }));
    await Promise.all(
      lanes.map(async (lane) => {
        for (let round = 0; round < ROUNDS; round++) await lane.round();
        await lane.finish();
      }),
    );
    const sum = emptyTally();
    for (const { tally } of lanes) addTally(sum, tally);
    // A soak in which nobody died or nothing was acknowledged proves nothing.
    expect(sum.kills).toBeGreaterThan(ROUNDS * 0.5);
    expect(sum.acknowledged).toBeGreaterThan(sum.executions);
    expect(sum.executions).toBeGreaterThan(ROUNDS * 2 * 4 - 1);
  });

  it("notices that an acknowledged start is gone", { timeout: 60_000 }, async () => {
    const root = temporaryDirectory();
    const lane = twoRounds(root);
    await lane.round();
    rmSync(join(root, "l-0"), { recursive: true });
    await expect(lane.round()).rejects.toThrow(/"started l-\w+-\d" was acknowledged and is lost/);
  });

  it("notices an effect that begins again after its outcome was recorded", { timeout: 60_000 }, async () => {
    await expect(finishWith({ attempt: 99 })).rejects.toThrow("started again after its outcome was recorded");
  });

  it("notices an attempt that its log does not know", { timeout: 60_000 }, async () => {
    await expect(finishWith({ moment: "finish", attempt: 99 })).rejects.toThrow(
      "attempt 99 is not in its log",
    );
  });
});

/** Two rounds and their end, the first line of the counter standing there once more, with these changes. */
async function finishWith(changes: object): Promise<void> {
  const root = temporaryDirectory();
  const lane = twoRounds(root);
  await lane.round();
  await lane.round();
  const counter = join(root, "l-0.counter");
  const [line = ""] = readFileSync(counter, "utf8").split("\n");
  appendFileSync(counter, `${JSON.stringify({ ...(JSON.parse(line) as object), ...changes })}\n`);
  await lane.finish();
}
