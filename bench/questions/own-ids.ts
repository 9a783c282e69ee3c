// What do random ids of the caller's own cost, compared with the ids that heddle makes? Random ids are looked up when an
// execution starts, and scatter over the pages of the index where made ones follow each other.

import { randomUUID } from "node:crypto";
import type { Question } from "../harness/question.js";
import { rateQuestion } from "../harness/rate.js";
import { heddle } from "../sides/heddle.js";

const options = { steps: 1, sync: "flush" } as const;

export const ownIds: Question = rateQuestion({
  id: "own-ids/flush/1000",
  unit: "executions/s",
  ...options,
  inFlight: 1_000,
  executions: { full: 60_000, quick: 1_000 },
  heddle: heddle({ ...options, idOf: () => randomUUID() }),
  against: heddle({ ...options, name: "made ids" }),
});
