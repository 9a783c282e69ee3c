// What an event says: its subject in a few words, and the values it carries.

import type { Wire } from "../../kernel/codec/index.js";
import type { EventOf, EventType, ExecutionEvent } from "../../kernel/events.js";
import type { Used } from "../../kernel/meter.js";
import { moment } from "./time.js";

export interface EventSummary {
  readonly subject: string;
  readonly values: readonly (readonly [label: string, wire: Wire])[];
}

/** One row per kind; a new kind does not compile until it can be shown. */
const SUMMARIES: { readonly [K in EventType]: (event: EventOf<K>) => EventSummary } = {
  EXECUTION_STARTED: ({ flowId, flowVersion, input }) => about(`${flowId}@${flowVersion}`, ["input", input]),
  STEP_STARTED: ({ stepId, kind, toolId, input }) => {
    const runs = [...(kind === "step" ? [] : [kind]), ...(toolId === undefined ? [] : [toolId])].join(" ");
    return about(runs === "" ? stepId : `${stepId} (${runs})`, ["input", input]);
  },
  STEP_RETRIED: ({ stepId, attempt, reason, dueAt, error }) => {
    if (reason === "verdict" || reason === "decided")
      return about(`${stepId} attempt ${attempt}, as was decided`);
    if (reason === "throttled") return about(`${stepId} waits for its budget until ${moment(dueAt)}`);
    if (reason === "recovered") return about(`${stepId} attempt ${attempt}, the last one was cut short`);
    return about(`${stepId} attempt ${attempt} at ${moment(dueAt)}`, ["after", error]);
  },
  STEP_COMPLETED: ({ stepId, output, used }) => about(withUse(stepId, used), ["output", output]),
  STEP_FAILED: ({ stepId, error, channel, payload, used }) => {
    if (channel === undefined) return about(withUse(stepId, used), ["error", error]);
    return about(withUse(`${stepId} on channel ${channel}`, used), ["payload", payload]);
  },
  DECISION_RECORDED: ({ decisionId, choice, source, rationale }) => {
    const subject = source === undefined ? decisionId : `${decisionId} by ${source}`;
    return about(subject, ["choice", choice], ...present("rationale", rationale));
  },
  DECISION_FAILED: ({ decisionId, error }) => about(decisionId, ["error", error]),
  VALUE_RECORDED: ({ name, value }) => about(name, ["value", value]),
  EXECUTION_SUSPENDED: ({ gateId, kind, on, wakeAt, correlationKey }) => {
    if (kind === "sleep") return about(`${gateId} until ${wakeAt === undefined ? "?" : moment(wakeAt)}`);
    const key = correlationKey === undefined ? "" : ` [${correlationKey}]`;
    return about(
      `${gateId} waits for ${on}${key}${wakeAt === undefined ? "" : `, at most until ${moment(wakeAt)}`}`,
    );
  },
  GATE_EVENT: ({ gateId, payload }) => about(`resumes ${gateId}`, ["payload", payload]),
  GATE_TIMED_OUT: ({ gateId, on }) => about(`${gateId}, nobody sent ${on} in time`),
  TIMER_FIRED: ({ gateId }) => about(gateId),
  EXECUTION_RESUMED: ({ gateId, reason, requestId }) => {
    return about(
      `${gateId} by ${RESUMED_BY[reason]}${requestId === undefined ? "" : ` (request ${requestId})`}`,
    );
  },
  DOMAIN_EVENT: ({ payload }) => about("emitted by the flow", ["payload", payload]),
  STREAM_DELTA: ({ delta, done }) => about(done ? "last piece" : "piece", ["text", delta]),
  SURFACE_PATCH: ({ operation, key, value, surface }) => {
    return about(`${operation} ${key}${surface === undefined ? "" : ` of ${surface}`}`, ["value", value]);
  },
  EXECUTION_COMPLETED: ({ output }) => about("", ["output", output]),
  EXECUTION_FAILED: ({ error }) => about("", ["error", error]),
  EXECUTION_CANCELLED: ({ reason, error }) => about(reason, ...present("cleanup failed", error)),
  CANCEL_REQUESTED: ({ reason }) => about(reason),
  OUTCOME_LATE: ({ stepId, issue = 1, attempt, kind, error }) => {
    return about(
      `${stepId}${issue === 1 ? "" : ` issue ${issue}`} attempt ${attempt} ${kind} when nobody waited any more`,
      ...present("error", error),
    );
  },
  EFFECT_INDOUBT: ({ stepId, attempt, error }) => {
    return about(`${stepId} attempt ${attempt} may have done its work`, ...present("after", error));
  },
  EFFECT_METERED: ({ stepId, attempt, used }) =>
    about(`${stepId} attempt ${attempt} used ${amountsOf(used)}`),
  QUOTA_EXCEEDED: ({ stepId, scope, meter, limit, used }) =>
    about(`${stepId}: ${meter} of the ${scope} are ${used} of ${limit}`),
  EFFECT_EVENT: ({ stepId, payload }) => about(`emitted by step ${stepId}`, ["payload", payload]),
};

const RESUMED_BY = { event: "its event", timeout: "its timeout", timer: "its timer" } as const;

export function summaryOf<K extends EventType>(event: EventOf<K> & ExecutionEvent): EventSummary {
  const summary = SUMMARIES[event.type] as (event: EventOf<K>) => EventSummary;
  return summary(event);
}

function withUse(subject: string, used: Used | undefined): string {
  return used ? `${subject} (used ${amountsOf(used)})` : subject;
}

function amountsOf({ tokens = 0, cost = 0, wallMs }: Used): string {
  const amounts = [
    ...(tokens > 0 ? [`${tokens} tokens`] : []),
    ...(cost > 0 ? [`cost ${cost}`] : []),
    ...(wallMs === undefined ? [] : [`${wallMs} ms`]),
  ];
  return amounts.join(", ") || "nothing that is known";
}

function about(subject: string, ...values: (readonly [string, Wire])[]): EventSummary {
  return { subject, values };
}

function present(label: string, wire: Wire): (readonly [string, Wire])[] {
  return wire === undefined ? [] : [[label, wire]];
}
