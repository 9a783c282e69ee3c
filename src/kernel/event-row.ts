// Event rows: the stored form of events, `[code, ...fields]`, trailing absent fields dropped.
//
// Rows are written out, kind by kind: reading a property by a name that varies is the slowest way there is, and there is a row for
// every event. The table of events.ts has the same fields in the same order, and rows are read back by that one: a test writes and
// reads every kind.

import { HeddleError } from "./errors.js";
import { EVENT_KINDS, type EventOf, type EventType, type ExecutionEvent } from "./events.js";

const ROWS: { readonly [K in EventType]: (e: EventOf<K>) => unknown[] } = {
  EXECUTION_STARTED: (e) => [1, e.flowId, e.flowVersion, e.input, e.flags, e.principal, e.deadlineAt],
  STEP_STARTED: (e) => [2, e.stepId, e.input, e.kind, e.toolId, e.shielded, e.deadlineAt],
  STEP_RETRIED: (e) => [3, e.stepId, e.attempt, e.reason, e.dueAt, e.error],
  STEP_COMPLETED: (e) => [4, e.stepId, e.output, e.used],
  STEP_FAILED: (e) => [5, e.stepId, e.error, e.channel, e.payload, e.used],
  DECISION_RECORDED: (e) => [6, e.decisionId, e.choice, e.source, e.rationale],
  DECISION_FAILED: (e) => [7, e.decisionId, e.error],
  VALUE_RECORDED: (e) => [8, e.name, e.value],
  EXECUTION_SUSPENDED: (e) => [9, e.gateId, e.kind, e.on, e.wakeAt, e.correlationKey, e.shielded],
  GATE_EVENT: (e) => [10, e.name, e.gateId, e.payload],
  GATE_TIMED_OUT: (e) => [11, e.gateId, e.on],
  TIMER_FIRED: (e) => [12, e.gateId],
  EXECUTION_RESUMED: (e) => [13, e.gateId, e.reason, e.requestId],
  DOMAIN_EVENT: (e) => [14, e.name, e.payload],
  STREAM_DELTA: (e) => [15, e.name, e.delta, e.done],
  SURFACE_PATCH: (e) => [16, e.operation, e.key, e.value, e.surface],
  EXECUTION_COMPLETED: (e) => [17, e.output],
  EXECUTION_FAILED: (e) => [18, e.error],
  EXECUTION_CANCELLED: (e) => [19, e.reason, e.code, e.error],
  EFFECT_EVENT: (e) => [20, e.stepId, e.name, e.payload],
  EFFECT_INDOUBT: (e) => [21, e.stepId, e.attempt, e.error],
  CANCEL_REQUESTED: (e) => [22, e.reason, e.code],
  OUTCOME_LATE: (e) => [23, e.stepId, e.attempt, e.kind, e.error, e.issue],
  EFFECT_METERED: (e) => [24, e.stepId, e.attempt, e.used],
  QUOTA_EXCEEDED: (e) => [25, e.stepId, e.scope, e.meter, e.limit, e.used],
};

const EVENT_TYPES = Object.keys(EVENT_KINDS) as EventType[];
const FIELDS = Object.fromEntries(EVENT_TYPES.map((type) => [type, Object.keys(EVENT_KINDS[type].fields)]));
const TYPE_OF_CODE = new Map(EVENT_TYPES.map((type) => [EVENT_KINDS[type].code, type]));

export function eventToRow(event: ExecutionEvent): unknown[] {
  const row = (ROWS[event.type] as (e: ExecutionEvent) => unknown[])(event);
  while (row[row.length - 1] === undefined) row.pop();
  return row;
}

/** The event of a stored row; throws RECORD_UNREADABLE for a row that no version of heddle wrote. */
export function eventFromRow(stored: unknown): ExecutionEvent {
  const type = Array.isArray(stored) ? TYPE_OF_CODE.get(stored[0] as number) : undefined;
  if (!type) throw new HeddleError("RECORD_UNREADABLE", "a stored event has no known kind");
  const fields = FIELDS[type]!;
  const event: Record<string, unknown> = { type };
  for (let i = 0; i < fields.length; i++) event[fields[i]!] = (stored as unknown[])[i + 1];
  return event as unknown as ExecutionEvent;
}
