// How many one-step executions a second, at each sync level and with 1, 100 and 1,000 of them in flight?

import type { Question } from "../harness/question.js";
import { rateQuestion } from "../harness/rate.js";
import type { Sync } from "../harness/side.js";
import { heddle } from "../sides/heddle.js";
import { limit } from "../sides/limit.js";

export const oneStep: readonly Question[] = [
  ask("flush", 1, { full: 200, quick: 20 }),
  ask("flush", 100, { full: 30_000, quick: 400 }),
  ask("flush", 1_000, { full: 60_000, quick: 1_000 }),
  ask("commit", 1, { full: 4_000, quick: 100 }),
  ask("commit", 100, { full: 30_000, quick: 400 }),
  ask("commit", 1_000, { full: 60_000, quick: 1_000 }),
];

function ask(sync: Sync, inFlight: number, executions: { full: number; quick: number }): Question {
  const options = { steps: 1, sync };
  return rateQuestion({
    id: `one-step/${sync}/${inFlight}`,
    unit: "executions/s",
    ...options,
    inFlight,
    executions,
    heddle: heddle(options),
    against: limit(options),
  });
}
