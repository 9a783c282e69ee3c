// What does the ring cost: one-step executions for a principal that a table of grants allows it, under budgets and a middleware
// that would retry, beside executions with nothing around their effects? At least 0.75 is what was promised.

import { GrantTable, retryMiddleware } from "heddle";
import type { Question } from "../harness/question.js";
import { rateQuestion } from "../harness/rate.js";
import type { Sync } from "../harness/side.js";
import { heddle, type Ring } from "../sides/heddle.js";

const configured: Ring = {
  principal: { actor: "ann", tenant: "acme" },
  security: { authorizer: new GrantTable({ ann: ["mail.*", "s*"], bob: ["*"] }) },
  execution: {
    effectMiddleware: [retryMiddleware()],
    envelope: {
      budgets: [
        { scope: "execution", meter: "calls", limit: 100 },
        { scope: "tenant", meter: "calls", limit: 1_000_000_000, perMs: 60_000 },
      ],
    },
  },
};

export const ring: readonly Question[] = [ask("flush"), ask("commit")];

function ask(sync: Sync): Question {
  const options = { steps: 1, sync };
  return rateQuestion({
    id: `ring/${sync}/1000`,
    unit: "executions/s",
    ...options,
    inFlight: 1_000,
    executions: { full: 60_000, quick: 1_000 },
    heddle: heddle({ ...options, name: "with a ring", ring: configured }),
    against: heddle({ ...options, name: "without" }),
  });
}
