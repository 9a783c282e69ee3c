// Decisions: a decider is asked, and what it says becomes an event. It has no effect on the world, so nothing need be durable
// before it is asked.

import {
  type DecideOptions,
  type Decider,
  type EventOf,
  isThenable,
  type Secrecy,
  type ValueLimits,
} from "../kernel/index.js";

export interface Question {
  readonly executionId: string;
  readonly decisionId: string;
  readonly decider: Decider;
  readonly options: DecideOptions;
  readonly secrecy: Secrecy;
  readonly limits: ValueLimits;
}

/** `answer` is called once, maybe before this returns. A choice that cannot be recorded is a failed decision. */
export function askDecider(
  { executionId, decisionId, decider, options, secrecy, limits }: Question,
  answer: (event: EventOf<"DECISION_RECORDED" | "DECISION_FAILED">) => void,
): void {
  const failed = (error: unknown): void =>
    answer({ type: "DECISION_FAILED", decisionId, error: secrecy.failure(error) });
  const decided = (given: unknown): void => {
    let recorded: EventOf<"DECISION_RECORDED">;
    try {
      const choice = secrecy.wireOf(given, undefined, limits);
      const rationale = secrecy.wireOf(options.rationale, undefined, limits);
      recorded = { type: "DECISION_RECORDED", decisionId, choice, source: options.source, rationale };
    } catch (error) {
      return failed(error);
    }
    answer(recorded);
  };
  try {
    const choice = decider({ executionId, decisionId });
    if (isThenable(choice)) Promise.resolve(choice).then(decided, failed);
    else decided(choice);
  } catch (error) {
    failed(error);
  }
}
