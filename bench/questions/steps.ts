// What does a step cost in an execution that has done 25,000 of them, beside what it cost after 100?

import { medianOf, rowOfPairs } from "../harness/pairs.js";
import type { ByEffort, Question } from "../harness/question.js";
import type { Course } from "../harness/report.js";
import { freshDirectory, removeDirectory } from "../harness/scratch.js";
import { timesOfSteps } from "../sides/long.js";

const SYNC = "commit";
const STEPS = 25_000;
const ROUNDS: ByEffort<number> = { full: 7, quick: 2 };
/** `quick` does not go all the way. */
const LENGTH: ByEffort<number> = { full: STEPS, quick: 1_000 };
/** Steps looked at on either side: a single one tells nothing. */
const WINDOW = 200;
/** Steps that become one point of the curve. */
const STRIDE = 500;

export const longRun: Question = {
  id: `steps/${STEPS}`,
  async ask(effort) {
    const runs: Float64Array[] = [];
    for (let round = 0; round < ROUNDS[effort]; round++) {
      const directory = freshDirectory();
      runs.push(await timesOfSteps(directory, LENGTH[effort] + WINDOW / 2, SYNC));
      removeDirectory(directory);
    }
    const around = (step: number): Float64Array[] =>
      runs.map((timesMs) => timesMs.subarray(step - WINDOW / 2, step + WINDOW / 2));
    return rowOfPairs(
      { id: `steps/${STEPS}`, unit: "ms", sync: SYNC, inFlight: 1, course: courseOf(runs) },
      { ours: around(LENGTH[effort] - 1), theirs: around(100), names: ["step 25,000", "step 100"] },
    );
  },
};

function courseOf(runs: readonly Float64Array[]): Course {
  const curves = runs.map((timesMs, n) => ({
    name: `run ${n + 1}`,
    points: Array.from({ length: Math.floor(timesMs.length / STRIDE) }, (_, i): [number, number] => [
      i * STRIDE,
      medianOf(timesMs.subarray(i * STRIDE, (i + 1) * STRIDE)),
    ]),
  }));
  return { along: "steps done", panels: [{ title: "a step, ms", curves }] };
}
