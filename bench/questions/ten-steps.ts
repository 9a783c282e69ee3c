// How many steps a second, in executions of ten steps with 1,000 in flight?

import type { Question } from "../harness/question.js";
import { rateQuestion } from "../harness/rate.js";
import { heddle } from "../sides/heddle.js";
import { limit } from "../sides/limit.js";

const options = { steps: 10, sync: "flush" } as const;

export const tenSteps: Question = rateQuestion({
  id: "ten-steps/flush/1000",
  unit: "steps/s",
  ...options,
  inFlight: 1_000,
  executions: { full: 12_000, quick: 1_000 },
  heddle: heddle(options),
  against: limit(options),
});
