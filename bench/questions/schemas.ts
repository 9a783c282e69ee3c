// What do schemas cost: zod on the input of the flow, on the input of the step and on both outputs, compared with
// schemas that let everything through?

import type { Question } from "../harness/question.js";
import { rateQuestion } from "../harness/rate.js";
import { unchecked } from "../sides/flows.js";
import { heddle } from "../sides/heddle.js";

const options = { steps: 1, sync: "flush" } as const;

export const schemas: Question = rateQuestion({
  id: "schemas/flush/1000",
  unit: "executions/s",
  ...options,
  inFlight: 1_000,
  executions: { full: 60_000, quick: 1_000 },
  heddle: heddle(options),
  against: heddle({ ...options, name: "no schemas", schemas: unchecked }),
});
