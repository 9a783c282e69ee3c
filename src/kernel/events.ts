// Events: the vocabulary of an execution's log, one row of the table per kind.
//
// An event is stored as a row `[code, ...fields]`; `code` and the order of `fields` are the format, so rows of the
// table are only ever appended to, never reordered (event-row.ts). What programs see is the envelope, with names and
// payloads of its own: a gate's resolution and a domain event appear under the name the user gave them.

import type { Wire } from "./codec/index.js";
import { HeddleError } from "./errors.js";
import {
  amount,
  boolean,
  count,
  type Field,
  finite,
  listOf,
  objectOf,
  oneOf,
  optional,
  text,
  unchecked,
} from "./field.js";
import type { Used } from "./meter.js";
import type { FoldedState, GateStatus } from "./state.js";
import type { CancelCode } from "./status.js";

/** The version of the event vocabulary; recorded in every record of the log. */
export const EVENT_SCHEMA_VERSION = 1;

export const TASK_KINDS = ["step", "llm", "agent", "tool", "ui", "memory", "human", "plan", "a2a"] as const;
export type TaskKind = (typeof TASK_KINDS)[number];
export type PatchOperation = "set" | "merge" | "append";
export type ResumeReason = "event" | "timeout" | "timer";
/** "verdict": dispatched at once by the actor that was told; "decided": told while nobody ran it, and dispatched by its timer. */
export type RetryReason = "failed" | "recovered" | "verdict" | "throttled" | "decided";

/** The fields of every kind. A value that came from user code is a `Wire`: already isolated and recordable. */
interface EventFields {
  EXECUTION_STARTED: {
    flowId: string;
    flowVersion: string;
    input: Wire;
    flags: readonly number[];
    /** Who it acts for. Kept for restarts; no reader of the log shows it. */
    principal: Wire;
    /** When it is cancelled, unless it has ended. */
    deadlineAt?: number | undefined;
  };
  STEP_STARTED: {
    stepId: string;
    input: Wire;
    kind: TaskKind;
    toolId: string | undefined;
    /** Requested in a shield: no cancellation interrupts it. */
    shielded?: true | undefined;
    /** When it fails, however many attempts are left. */
    deadlineAt?: number | undefined;
  };
  STEP_RETRIED: { stepId: string; attempt: number; reason: RetryReason; dueAt: number; error: Wire };
  /** `used`: by the attempt that came to it, where that is accounted for. */
  STEP_COMPLETED: { stepId: string; output: Wire; used?: Used | undefined };
  STEP_FAILED: {
    stepId: string;
    error: Wire;
    channel: string | undefined;
    payload: Wire;
    used?: Used | undefined;
  };
  DECISION_RECORDED: { decisionId: string; choice: Wire; source: string | undefined; rationale: Wire };
  DECISION_FAILED: { decisionId: string; error: Wire };
  VALUE_RECORDED: { name: string; value: Wire };
  EXECUTION_SUSPENDED: {
    gateId: string;
    kind: "event" | "sleep";
    on: string;
    wakeAt: number | undefined;
    correlationKey: string | undefined;
    shielded?: true | undefined;
  };
  GATE_EVENT: { name: string; gateId: string; payload: Wire };
  GATE_TIMED_OUT: { gateId: string; on: string };
  TIMER_FIRED: { gateId: string };
  EXECUTION_RESUMED: { gateId: string; reason: ResumeReason; requestId: string | undefined };
  DOMAIN_EVENT: { name: string; payload: Wire };
  STREAM_DELTA: { name: string; delta: Wire; done: boolean };
  SURFACE_PATCH: { operation: PatchOperation; key: string; value: Wire; surface: string | undefined };
  EXECUTION_COMPLETED: { output: Wire };
  EXECUTION_FAILED: { error: Wire };
  /** `error` is what the flow failed with while it cleaned up. */
  EXECUTION_CANCELLED: { reason: string; code?: CancelCode | undefined; error: Wire };
  EFFECT_EVENT: { stepId: string; name: string; payload: Wire };
  EFFECT_INDOUBT: { stepId: string; attempt: number; error: Wire };
  CANCEL_REQUESTED: { reason: string; code?: CancelCode | undefined };
  /** `issue` is absent for the first issue of its id. */
  OUTCOME_LATE: {
    stepId: string;
    attempt: number;
    kind: "completed" | "failed";
    error: Wire;
    issue?: number | undefined;
  };
  /** What an attempt used that did not end its step. */
  EFFECT_METERED: { stepId: string; attempt: number; used: Used };
  /** A budget was used up; what follows says what became of the step. */
  QUOTA_EXCEEDED: { stepId: string; scope: string; meter: string; limit: number; used: number };
}

export type EventType = keyof EventFields;
export type EventOf<K extends EventType> = K extends EventType
  ? { readonly type: K } & Readonly<EventFields[K]>
  : never;
/** One event without its position: a discriminated union on `type`. */
export type ExecutionEvent = { [K in EventType]: EventOf<K> }[EventType];

/** One event as programs see it. `sequence` is zero-based and dense in one execution. */
export interface EventEnvelope {
  readonly executionId: string;
  readonly sequence: number;
  readonly type: string;
  readonly timestamp: number;
  readonly payload: unknown;
}

/** Where an event stands in its log. */
export interface EventPosition {
  readonly sequence: number;
  readonly timestamp: number;
}

interface KindRow<K extends EventType> {
  /** The number stored in the log. */
  readonly code: number;
  /** The event schema version that brought this kind. */
  readonly since: number;
  /** The fields in stored order, and what each may hold, which is checked when a record is verified. */
  readonly fields: { readonly [F in keyof EventFields[K]]-?: Field<EventFields[K][F]> };
  /** What the event does to a state the fold owns; position and status are the fold's own business. */
  readonly fold: (state: FoldedState, event: EventOf<K>, at: EventPosition) => void;
}

const wire = unchecked<Wire>();
const optionalText = optional(text);
const optionalTime = optional(finite);
const usedAmounts: Field<Used> = objectOf({
  tokens: optional(amount),
  cost: optional(amount),
  wallMs: optional(amount),
  startedAt: optionalTime,
});
const optionalFlag = optional(oneOf(true));
const cancelCode = optional(oneOf("DEADLINE_EXCEEDED"));
const nothing = (): void => {};

/** One row per kind; a new kind does not compile until its row is complete. */
export const EVENT_KINDS: { readonly [K in EventType]: KindRow<K> } = {
  EXECUTION_STARTED: {
    code: 1,
    since: 1,
    fields: {
      flowId: text,
      flowVersion: text,
      input: wire,
      flags: listOf(count),
      principal: wire,
      deadlineAt: optionalTime,
    },
    fold: (state, event, at) => {
      state.flowId = event.flowId;
      state.flowVersion = event.flowVersion;
      state.input = event.input;
      state.deadlineAt = event.deadlineAt;
      state.startedAt = at.timestamp;
    },
  },
  STEP_STARTED: {
    code: 2,
    since: 1,
    fields: {
      stepId: text,
      input: wire,
      kind: oneOf("step", "llm", "agent", "tool", "ui", "memory", "human", "plan", "a2a"),
      toolId: optionalText,
      shielded: optionalFlag,
      deadlineAt: optionalTime,
    },
    fold: (state, event, at) => {
      state.openSteps++;
      state.frames[event.stepId] = {
        stepId: event.stepId,
        status: "started",
        attempts: 1,
        input: event.input,
        output: undefined,
        error: undefined,
        channel: undefined,
        payload: undefined,
        startedAt: at.timestamp,
        endedAt: undefined,
        shielded: event.shielded,
        deadlineAt: event.deadlineAt,
        late: undefined,
      };
    },
  },
  STEP_RETRIED: {
    code: 3,
    since: 1,
    fields: {
      stepId: text,
      attempt: count,
      reason: oneOf("failed", "recovered", "verdict", "throttled", "decided"),
      dueAt: finite,
      error: wire,
    },
    fold: (state, event) => {
      const frame = state.frames[event.stepId];
      if (!frame) return;
      frame.attempts = event.attempt;
      if (frame.status !== "inDoubt") return;
      frame.status = "started";
      state.inDoubtSteps--;
    },
  },
  STEP_COMPLETED: {
    code: 4,
    since: 1,
    fields: { stepId: text, output: wire, used: optional(usedAmounts) },
    fold: (state, event, at) => {
      addUse(state, event.used);
      const frame = endFrame(state, event.stepId, "completed", at);
      if (frame) frame.output = event.output;
    },
  },
  STEP_FAILED: {
    code: 5,
    since: 1,
    fields: {
      stepId: text,
      error: wire,
      channel: optionalText,
      payload: wire,
      used: optional(usedAmounts),
    },
    fold: (state, event, at) => {
      addUse(state, event.used);
      const frame = endFrame(state, event.stepId, "failed", at);
      if (!frame) return;
      frame.error = event.error;
      frame.channel = event.channel;
      frame.payload = event.payload;
    },
  },
  DECISION_RECORDED: {
    code: 6,
    since: 1,
    fields: { decisionId: text, choice: wire, source: optionalText, rationale: wire },
    fold: (state, event) => {
      state.decisions[event.decisionId] = event.choice;
    },
  },
  DECISION_FAILED: {
    code: 7,
    since: 1,
    fields: { decisionId: text, error: wire },
    fold: nothing,
  },
  VALUE_RECORDED: { code: 8, since: 1, fields: { name: text, value: wire }, fold: nothing },
  EXECUTION_SUSPENDED: {
    code: 9,
    since: 1,
    fields: {
      gateId: text,
      kind: oneOf("event", "sleep"),
      on: text,
      wakeAt: optionalTime,
      correlationKey: optionalText,
      shielded: optionalFlag,
    },
    fold: (state, event, at) => {
      state.openGates++;
      state.gates[event.gateId] = {
        gateId: event.gateId,
        kind: event.kind,
        on: event.on,
        status: "open",
        wakeAt: event.wakeAt,
        correlationKey: event.correlationKey,
        requestId: undefined,
        payload: undefined,
        openedAt: at.timestamp,
        closedAt: undefined,
        shielded: event.shielded,
      };
    },
  },
  GATE_EVENT: {
    code: 10,
    since: 1,
    fields: { name: text, gateId: text, payload: wire },
    fold: (state, event, at) => {
      closeGate(state, event.gateId, "resolved", at);
      const gate = state.gates[event.gateId];
      if (gate) gate.payload = event.payload;
    },
  },
  GATE_TIMED_OUT: {
    code: 11,
    since: 1,
    fields: { gateId: text, on: text },
    fold: (state, event, at) => closeGate(state, event.gateId, "timedOut", at),
  },
  TIMER_FIRED: {
    code: 12,
    since: 1,
    fields: { gateId: text },
    fold: (state, event, at) => closeGate(state, event.gateId, "resolved", at),
  },
  EXECUTION_RESUMED: {
    code: 13,
    since: 1,
    fields: {
      gateId: text,
      reason: oneOf("event", "timeout", "timer"),
      requestId: optionalText,
    },
    fold: (state, event) => {
      const gate = state.gates[event.gateId];
      if (gate) gate.requestId = event.requestId;
    },
  },
  DOMAIN_EVENT: { code: 14, since: 1, fields: { name: text, payload: wire }, fold: nothing },
  STREAM_DELTA: {
    code: 15,
    since: 1,
    fields: { name: text, delta: wire, done: boolean },
    fold: nothing,
  },
  SURFACE_PATCH: {
    code: 16,
    since: 1,
    fields: {
      operation: oneOf("set", "merge", "append"),
      key: text,
      value: wire,
      surface: optionalText,
    },
    fold: nothing,
  },
  EXECUTION_COMPLETED: {
    code: 17,
    since: 1,
    fields: { output: wire },
    fold: (state, event) => {
      state.output = event.output;
      state.status = "completed";
    },
  },
  EXECUTION_FAILED: {
    code: 18,
    since: 1,
    fields: { error: wire },
    fold: (state, event) => {
      state.error = event.error;
      state.status = "failed";
    },
  },
  EXECUTION_CANCELLED: {
    code: 19,
    since: 1,
    fields: { reason: text, code: cancelCode, error: wire },
    fold: (state, event) => {
      state.reason = event.reason;
      state.code = event.code;
      state.error = event.error;
      state.status = "cancelled";
    },
  },
  EFFECT_EVENT: {
    code: 20,
    since: 1,
    fields: { stepId: text, name: text, payload: wire },
    fold: nothing,
  },
  EFFECT_INDOUBT: {
    code: 21,
    since: 1,
    fields: { stepId: text, attempt: count, error: wire },
    fold: (state, event) => {
      const frame = state.frames[event.stepId];
      if (frame?.status !== "started") return;
      frame.status = "inDoubt";
      state.inDoubtSteps++;
    },
  },
  CANCEL_REQUESTED: {
    code: 22,
    since: 1,
    fields: { reason: text, code: cancelCode },
    fold: (state, event, at) => {
      state.cancelling = { reason: event.reason, code: event.code };
      for (const frame of Object.values(state.frames)) {
        if (!frame.shielded) endFrame(state, frame.stepId, "cancelled", at);
      }
      for (const gate of Object.values(state.gates)) {
        if (!gate.shielded) closeGate(state, gate.gateId, "cancelled", at);
      }
    },
  },
  OUTCOME_LATE: {
    code: 23,
    since: 1,
    fields: {
      stepId: text,
      attempt: count,
      kind: oneOf("completed", "failed"),
      error: wire,
      issue: optional(count),
    },
    fold: (state, { stepId, attempt, kind, error, issue = 1 }, at) => {
      const frame = state.frames[stepId];
      if (frame) (frame.late ??= []).push({ issue, attempt, kind, error, at: at.timestamp });
    },
  },
  EFFECT_METERED: {
    code: 24,
    since: 1,
    fields: { stepId: text, attempt: count, used: usedAmounts },
    fold: (state, { used }) => addUse(state, used),
  },
  QUOTA_EXCEEDED: {
    code: 25,
    since: 1,
    fields: { stepId: text, scope: text, meter: text, limit: amount, used: amount },
    fold: nothing,
  },
};

function endFrame(
  state: FoldedState,
  stepId: string,
  status: "completed" | "failed" | "cancelled",
  at: EventPosition,
) {
  const frame = state.frames[stepId];
  if (frame?.status !== "started" && frame?.status !== "inDoubt") return undefined;
  state.openSteps--;
  if (frame.status === "inDoubt") state.inDoubtSteps--;
  frame.status = status;
  frame.endedAt = at.timestamp;
  return frame;
}

function addUse({ usage }: FoldedState, used: Used | undefined): void {
  if (!used) return;
  const { tokens = 0, cost = 0, wallMs = 0 } = used;
  usage.calls++;
  usage.tokens += tokens;
  usage.cost += cost;
  usage.wallMs += wallMs;
}

function closeGate(state: FoldedState, gateId: string, status: GateStatus, at: EventPosition): void {
  const gate = state.gates[gateId];
  if (!gate || gate.status !== "open") return;
  state.openGates--;
  gate.status = status;
  gate.closedAt = at.timestamp;
}

/** What an attempt used that is over with this event. */
export function usedIn(event: ExecutionEvent): Used | undefined {
  switch (event.type) {
    case "STEP_COMPLETED":
    case "STEP_FAILED":
    case "EFFECT_METERED":
      return event.used;
    default:
      return undefined;
  }
}

const ENDS: ReadonlySet<string> = new Set<EventType>([
  "EXECUTION_COMPLETED",
  "EXECUTION_FAILED",
  "EXECUTION_CANCELLED",
]);

/** Whether an event ends its execution. Nothing follows it in a log but late outcomes. */
export function isEnding({ type }: { readonly type: string }): boolean {
  return ENDS.has(type);
}

/** Names a flow may not give to a gate or a domain event, because the log uses them itself. */
export const RESERVED_EVENT_NAMES: ReadonlySet<string> = new Set(Object.keys(EVENT_KINDS));

/** Checks every field of an event against its kind: for logs that come from outside, and for `verify`. */
export function checkEvent(event: ExecutionEvent): void {
  const values = event as unknown as Readonly<Record<string, unknown>>;
  const fields: Readonly<Record<string, Field<unknown>>> = EVENT_KINDS[event.type].fields;
  for (const [name, { expected, takes }] of Object.entries(fields)) {
    if (takes(values[name])) continue;
    throw new HeddleError(
      "RECORD_UNREADABLE",
      `A stored ${event.type} is malformed at ${name}: expected ${expected}.`,
    );
  }
}
