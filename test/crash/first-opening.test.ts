// Goal: a host that dies while it makes its directory leaves one that opens (crash matrix, C7; C-LIF-01).
// Method: fresh directories, each with a host killed within the few milliseconds its first opening takes, then a second
// host that has to find or make everything and finish its work.

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { startChild } from "./child.js";
import { seededRandom } from "./random.js";

const ROUNDS = 30;
const SEED = Number(process.env["HEDDLE_KILL_SEED"] ?? Date.now() % 1_000_000);
const HOST = new URL("../soak/programs/soak-host.mjs", import.meta.url);
/** From the start of the opening to its end, three partitions and all; longer than it takes. */
const WINDOW_MS = 40;

it(`C-LIF-01: a death during the first opening leaves a directory that opens (seed ${SEED})`, {
  timeout: 120_000,
}, async () => {
  const random = seededRandom(SEED);
  const directory = temporaryDirectory();
  const deaths = { before: 0, after: 0 };
  const round = async (number: number): Promise<void> => {
    const dir = join(directory, `d${number}`);
    const options = { dir, ids: ["x-mixed-1"], partitions: 3, sync: "flush", actors: 0 };
    const env = { HEDDLE_TEST_COUNTER: join(directory, `c${number}`) };
    const run = () => startChild(HOST, { args: [JSON.stringify(options)], env });
    const first = run();
    await first.line((line) => line === "loaded");
    await delay(random() * WINDOW_MS);
    first.kill("SIGKILL");
    await first.ended;
    deaths[first.lines.includes("started x-mixed-1") ? "after" : "before"]++;
    const second = run();
    const { code, stderr } = await second.ended;
    expect({ code, stderr, last: second.lines.at(-1) }, `round ${number}`).toEqual({
      code: 0,
      stderr: "",
      last: "done",
    });
    expect(
      second.lines.filter((line) => line.startsWith("ended")),
      `round ${number}`,
    ).toEqual(["ended x-mixed-1 completed"]);
  };
  for (let number = 0; number < ROUNDS; number += 2) await Promise.all([round(number), round(number + 1)]);
  expect(deaths.before, "deaths before the first start was acknowledged").toBeGreaterThan(ROUNDS / 4);
});
