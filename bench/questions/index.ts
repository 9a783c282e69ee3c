// Every question, in the order of the tables.

import type { Question } from "../harness/question.js";
import { agentGrowth } from "./agent-growth.js";
import { agents } from "./agents.js";
import { alone } from "./alone.js";
import { coldResume } from "./cold-resume.js";
import { hostDelay } from "./host-delay.js";
import { latency } from "./latency.js";
import { memory } from "./memory.js";
import { oneStep } from "./one-step.js";
import { openParked } from "./open-parked.js";
import { ownIds } from "./own-ids.js";
import { payload } from "./payload.js";
import { poolLatency } from "./pool-latency.js";
import { poolThroughput } from "./pool-throughput.js";
import { recover } from "./recover.js";
import { ring } from "./ring.js";
import { schemas } from "./schemas.js";
import { longRun } from "./steps.js";
import { TARGETS } from "./targets.js";
import { tenSteps } from "./ten-steps.js";
import { threads } from "./threads.js";
import { transient } from "./transient.js";

const asked: readonly Question[] = [
  ...oneStep,
  tenSteps,
  ...payload,
  ...alone,
  ...latency,
  ...coldResume,
  ownIds,
  schemas,
  ...ring,
  ...poolThroughput,
  ...poolLatency,
  ...threads,
  ...hostDelay,
  transient,
  ...recover,
  ...openParked,
  longRun,
  ...memory,
  ...agentGrowth,
  ...agents,
];

export const questions: readonly Question[] = asked.map((question) => {
  const target = TARGETS.get(question.id);
  return target ? { ...question, target } : question;
});
