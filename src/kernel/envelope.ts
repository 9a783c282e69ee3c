// Envelopes: the events of a record as programs see them, each under its public name and with its payload.

import { fromWire } from "./codec/index.js";
import type { EventEnvelope, EventOf, EventType, ExecutionEvent } from "./events.js";
import type { LogRecord } from "./store/spi.js";

interface PublicForm {
  readonly type: string;
  readonly payload: unknown;
}

/** The public form of every kind; a new kind does not compile until it has one. */
const PUBLIC_FORMS: { readonly [K in EventType]: (event: EventOf<K>) => PublicForm } = {
  EXECUTION_STARTED: ({ type, flowId, flowVersion, input, flags, deadlineAt }) =>
    plain(type, { flowId, flowVersion, input: fromWire(input), flags, deadlineAt }),
  STEP_STARTED: ({ type, stepId, input, kind, toolId, shielded, deadlineAt }) =>
    plain(type, { stepId, input: fromWire(input), kind, toolId, shielded, deadlineAt }),
  STEP_RETRIED: ({ type, stepId, attempt, reason, dueAt, error }) =>
    plain(type, { stepId, attempt, reason, dueAt, error: fromWire(error) }),
  STEP_COMPLETED: ({ type, stepId, output, used }) =>
    plain(type, { stepId, output: fromWire(output), used: used && { ...used } }),
  STEP_FAILED: ({ type, stepId, error, channel, payload, used }) =>
    plain(type, {
      stepId,
      error: fromWire(error),
      channel,
      payload: fromWire(payload),
      used: used && { ...used },
    }),
  DECISION_RECORDED: ({ type, decisionId, choice, source, rationale }) =>
    plain(type, { decisionId, choice: fromWire(choice), source, rationale: fromWire(rationale) }),
  DECISION_FAILED: ({ type, decisionId, error }) => plain(type, { decisionId, error: fromWire(error) }),
  VALUE_RECORDED: ({ type, name, value }) => plain(type, { name, value: fromWire(value) }),
  EXECUTION_SUSPENDED: ({ type, gateId, kind, on, wakeAt, correlationKey, shielded }) =>
    plain(type, { gateId, kind, on, wakeAt, correlationKey, shielded }),
  // What a user named appears under that name, with nothing of ours around the payload.
  GATE_EVENT: ({ name, payload }) => ({ type: name, payload: fromWire(payload) }),
  GATE_TIMED_OUT: ({ type, gateId, on }) => plain(type, { gateId, on }),
  TIMER_FIRED: ({ type, gateId }) => plain(type, { gateId }),
  EXECUTION_RESUMED: ({ type, gateId, reason, requestId }) => plain(type, { gateId, reason, requestId }),
  DOMAIN_EVENT: ({ name, payload }) => ({ type: name, payload: fromWire(payload) }),
  STREAM_DELTA: ({ name, delta, done }) => ({ type: name, payload: { delta: fromWire(delta), done } }),
  SURFACE_PATCH: ({ type, operation, key, value, surface }) =>
    plain(type, { operation, key, value: fromWire(value), surface }),
  EXECUTION_COMPLETED: ({ type, output }) => plain(type, { output: fromWire(output) }),
  EXECUTION_FAILED: ({ type, error }) => plain(type, { error: fromWire(error) }),
  EXECUTION_CANCELLED: ({ type, reason, code, error }) =>
    plain(type, { reason, code, error: fromWire(error) }),
  CANCEL_REQUESTED: ({ type, reason, code }) => plain(type, { reason, code }),
  OUTCOME_LATE: ({ type, stepId, attempt, kind, error, issue = 1 }) =>
    plain(type, { stepId, issue, attempt, kind, error: fromWire(error) }),
  EFFECT_INDOUBT: ({ type, stepId, attempt, error }) =>
    plain(type, { stepId, attempt, error: fromWire(error) }),
  EFFECT_METERED: ({ type, stepId, attempt, used }) => plain(type, { stepId, attempt, used: { ...used } }),
  QUOTA_EXCEEDED: ({ type, stepId, scope, meter, limit, used }) =>
    plain(type, { stepId, scope, meter, limit, used }),
  EFFECT_EVENT: ({ name, payload }) => ({ type: name, payload: fromWire(payload) }),
};

/** The envelopes of a record's events, every value decoded afresh. */
export function envelopesOf(executionId: string, record: LogRecord): EventEnvelope[] {
  const { sequence, timestamp, events } = record;
  return events.map((event, index) => {
    const { type, payload } = publicForm(event);
    return { executionId, sequence: sequence + index, type, timestamp, payload };
  });
}

function publicForm<K extends EventType>(event: EventOf<K> & ExecutionEvent): PublicForm {
  const form = PUBLIC_FORMS[event.type] as (event: EventOf<K>) => PublicForm;
  return form(event);
}

/** Absent fields are left out rather than shown as undefined. */
function plain(type: EventType, fields: Record<string, unknown>): PublicForm {
  for (const name in fields) if (fields[name] === undefined) delete fields[name];
  return { type, payload: fields };
}
