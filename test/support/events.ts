// One sample of every event kind, and any event at all.

import * as fc from "fast-check";
import { type ExecutionEvent, failureToWire, toWire, type Wire } from "../../src/kernel/index.js";

const failure = failureToWire(
  Object.assign(new RangeError("too far"), { stack: "RangeError: too far\n    at here", code: "E_FAR" }),
);

export const SAMPLES: readonly ExecutionEvent[] = [
  {
    type: "EXECUTION_STARTED",
    flowId: "f",
    flowVersion: "1",
    input: toWire({ n: 1 }),
    flags: [1, 2],
    principal: undefined,
  },
  { type: "STEP_STARTED", stepId: "s", input: toWire([1]), kind: "tool", toolId: "t" },
  { type: "STEP_RETRIED", stepId: "s", attempt: 2, reason: "failed", dueAt: 5, error: failure },
  { type: "EFFECT_INDOUBT", stepId: "s", attempt: 2, error: failure },
  { type: "STEP_COMPLETED", stepId: "s", output: toWire(new Map([["k", 1n]])) },
  { type: "STEP_FAILED", stepId: "s", error: failure, channel: "quota", payload: toWire({ left: 0 }) },
  {
    type: "DECISION_RECORDED",
    decisionId: "d",
    choice: "a",
    source: "model",
    rationale: toWire({ why: "cheap" }),
  },
  { type: "DECISION_FAILED", decisionId: "d", error: failure },
  { type: "VALUE_RECORDED", name: "now", value: 17 },
  {
    type: "EXECUTION_SUSPENDED",
    gateId: "approve#0",
    kind: "event",
    on: "approve",
    wakeAt: 99,
    correlationKey: "c",
  },
  { type: "GATE_EVENT", name: "approve", gateId: "approve#0", payload: toWire({ ok: true }) },
  { type: "GATE_TIMED_OUT", gateId: "approve#0", on: "approve" },
  { type: "TIMER_FIRED", gateId: "sleep#0" },
  { type: "EXECUTION_RESUMED", gateId: "approve#0", reason: "event", requestId: "r" },
  { type: "DOMAIN_EVENT", name: "assessed", payload: toWire({ risk: "high" }) },
  { type: "STREAM_DELTA", name: "words", delta: "hello", done: false },
  { type: "SURFACE_PATCH", operation: "merge", key: "k", value: toWire({ a: 1 }), surface: "board" },
  { type: "EXECUTION_COMPLETED", output: toWire({ result: 1 }) },
  { type: "EXECUTION_FAILED", error: failure },
  { type: "EXECUTION_CANCELLED", reason: "enough", error: undefined },
  { type: "EFFECT_EVENT", stepId: "s", name: "llm_call", payload: toWire({ model: "m" }) },
  { type: "CANCEL_REQUESTED", reason: "too late", code: "DEADLINE_EXCEEDED" },
  { type: "OUTCOME_LATE", stepId: "s", attempt: 1, kind: "failed", error: failure },
  {
    type: "EFFECT_METERED",
    stepId: "s",
    attempt: 1,
    used: { tokens: 17, cost: 0.5, wallMs: 40, startedAt: 1_000 },
  },
  { type: "QUOTA_EXCEEDED", stepId: "s", scope: "tenant", meter: "calls", limit: 10, used: 10 },
];

const text = fc.string({ maxLength: 6 });
const maybeText = fc.option(text, { nil: undefined });
const count = fc.nat();
const wire: fc.Arbitrary<Wire> = fc
  .oneof(fc.jsonValue(), fc.constantFrom(undefined, -0, NaN, 10n ** 30n), fc.date(), fc.uint8Array())
  .map((value) => toWire(value));
const maybeTime = fc.option(count, { nil: undefined });
const shielded = fc.constantFrom(true as const, undefined);
const cancelCode = fc.constantFrom("DEADLINE_EXCEEDED" as const, undefined);
const used = fc.record({ tokens: count, cost: count, wallMs: count, startedAt: count }, { requiredKeys: [] });
const kindOf = fc.constantFrom("step", "llm", "agent", "tool", "ui", "memory", "human", "plan", "a2a");

/** Any event, with a few ids only, so that sequences of them are about one another. */
export const anyEvent: fc.Arbitrary<ExecutionEvent> = fc.oneof(
  fc.record({
    type: fc.constant("EXECUTION_STARTED"),
    flowId: text,
    flowVersion: text,
    input: wire,
    flags: fc.array(count, { maxLength: 3 }),
    principal: wire,
    deadlineAt: maybeTime,
  }),
  fc.record({
    type: fc.constant("STEP_STARTED"),
    stepId: id(),
    input: wire,
    kind: kindOf,
    toolId: maybeText,
    shielded,
    deadlineAt: maybeTime,
  }),
  fc.record({
    type: fc.constant("STEP_RETRIED"),
    stepId: id(),
    attempt: count,
    reason: fc.constantFrom("failed", "recovered", "verdict", "throttled"),
    dueAt: count,
    error: wire,
  }),
  fc.record({ type: fc.constant("EFFECT_INDOUBT"), stepId: id(), attempt: count, error: wire }),
  fc.record({
    type: fc.constant("STEP_COMPLETED"),
    stepId: id(),
    output: wire,
    used: fc.option(used, { nil: undefined }),
  }),
  fc.record({
    type: fc.constant("STEP_FAILED"),
    stepId: id(),
    error: wire,
    channel: maybeText,
    payload: wire,
    used: fc.option(used, { nil: undefined }),
  }),
  fc.record({
    type: fc.constant("DECISION_RECORDED"),
    decisionId: id(),
    choice: wire,
    source: maybeText,
    rationale: wire,
  }),
  fc.record({ type: fc.constant("DECISION_FAILED"), decisionId: id(), error: wire }),
  fc.record({
    type: fc.constant("VALUE_RECORDED"),
    name: fc.constantFrom("now", "random", "uuid"),
    value: wire,
  }),
  fc.record({
    type: fc.constant("EXECUTION_SUSPENDED"),
    gateId: id(),
    kind: fc.constantFrom("event", "sleep"),
    on: text,
    wakeAt: fc.option(count, { nil: undefined }),
    correlationKey: maybeText,
    shielded,
  }),
  fc.record({ type: fc.constant("GATE_EVENT"), name: text, gateId: id(), payload: wire }),
  fc.record({ type: fc.constant("GATE_TIMED_OUT"), gateId: id(), on: text }),
  fc.record({ type: fc.constant("TIMER_FIRED"), gateId: id() }),
  fc.record({
    type: fc.constant("EXECUTION_RESUMED"),
    gateId: id(),
    reason: fc.constantFrom("event", "timeout", "timer"),
    requestId: maybeText,
  }),
  fc.record({ type: fc.constant("DOMAIN_EVENT"), name: text, payload: wire }),
  fc.record({ type: fc.constant("STREAM_DELTA"), name: text, delta: wire, done: fc.boolean() }),
  fc.record({
    type: fc.constant("SURFACE_PATCH"),
    operation: fc.constantFrom("set", "merge", "append"),
    key: text,
    value: wire,
    surface: maybeText,
  }),
  fc.record({ type: fc.constant("EXECUTION_COMPLETED"), output: wire }),
  fc.record({ type: fc.constant("EXECUTION_FAILED"), error: wire }),
  fc.record({ type: fc.constant("EXECUTION_CANCELLED"), reason: text, code: cancelCode, error: wire }),
  fc.record({ type: fc.constant("CANCEL_REQUESTED"), reason: text, code: cancelCode }),
  fc.record({
    type: fc.constant("OUTCOME_LATE"),
    stepId: id(),
    attempt: count,
    kind: fc.constantFrom("completed", "failed"),
    error: wire,
    issue: fc.option(count, { nil: undefined }),
  }),
  fc.record({ type: fc.constant("EFFECT_EVENT"), stepId: id(), name: text, payload: wire }),
  fc.record({
    type: fc.constant("EFFECT_METERED"),
    stepId: id(),
    attempt: count,
    used,
  }),
  fc.record({
    type: fc.constant("QUOTA_EXCEEDED"),
    stepId: id(),
    scope: text,
    meter: text,
    limit: count,
    used: count,
  }),
);

function id(): fc.Arbitrary<string> {
  return fc.constantFrom("a", "b", "toString", "constructor");
}
