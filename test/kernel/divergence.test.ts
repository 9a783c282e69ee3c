import { describe, expect, test } from "vitest";
import { divergenceError, label } from "../../src/kernel/divergence.js";
import { type ExecutionEvent, toWire } from "../../src/kernel/index.js";
import { SAMPLES } from "../support/events.js";

const step = (stepId: string, input: unknown): ExecutionEvent => ({
  type: "STEP_STARTED",
  stepId,
  input: toWire(input),
  kind: "step",
  toolId: undefined,
});
const patch = (value: unknown): ExecutionEvent => ({
  type: "SURFACE_PATCH",
  operation: "set",
  key: "k",
  value: toWire(value),
  surface: undefined,
});
const emitted = (name: string, payload: unknown): ExecutionEvent => ({
  type: "DOMAIN_EVENT",
  name,
  payload: toWire(payload),
});
const delta = (text: string): ExecutionEvent => ({
  type: "STREAM_DELTA",
  name: "words",
  delta: text,
  done: false,
});
const gate = (on: string, correlationKey?: string): ExecutionEvent => ({
  type: "EXECUTION_SUSPENDED",
  gateId: `${on}#0`,
  kind: "event",
  on,
  wakeAt: undefined,
  correlationKey,
});
const sleep: ExecutionEvent = {
  type: "EXECUTION_SUSPENDED",
  gateId: "sleep#0",
  kind: "sleep",
  on: "sleep",
  wakeAt: 5,
  correlationKey: undefined,
};

const between = (recorded: ExecutionEvent, attempted: ExecutionEvent) =>
  divergenceError("x", 4, { kind: "other", recorded, attempted });

describe("the words for a divergence", () => {
  test("C-REP-01: position, recorded and attempted are in the message and in the details", () => {
    const error = between(step("a", 1), step("b", 1));
    expect(error.code).toBe("REPLAY_DIVERGED");
    expect(error.message).toMatch(
      /^Execution x diverged at position 4: the log has STEP_STARTED a, the code attempted STEP_STARTED b\./,
    );
    expect(error.message).toMatch(
      /Deploy the code that started it, or register the new code under a new flow version; nothing was recorded\.$/,
    );
    expect(error.details).toMatchObject({
      executionId: "x",
      position: 4,
      recorded: "STEP_STARTED a",
      attempted: "STEP_STARTED b",
    });
  });

  test.each([
    ["returned", "the flow returned before reaching it"],
    ["threw", "the flow threw before reaching it"],
    ["waits", "the flow waits for something else and never reaches it"],
  ] as const)("an entry the flow never reached: it %s", (how, words) => {
    const error = divergenceError("x", 2, { kind: "unreached", recorded: sleep, how });
    expect(error.message).toContain(`the log has a sleep (sleep#0), but ${words}.`);
    expect(error.details).toEqual({ executionId: "x", position: 2, recorded: "a sleep (sleep#0)" });
  });

  test.each([
    [
      "a step's input",
      step("a", { rows: [{ n: 1 }] }),
      step("a", { rows: [{ n: 2 }] }),
      "input.rows[0].n",
      "recorded 1, attempted 2",
    ],
    [
      "a step's kind",
      step("a", 1),
      { ...step("a", 1), kind: "tool" } as ExecutionEvent,
      "kind",
      'recorded "step", attempted "tool"',
    ],
    [
      "a surface",
      patch(1),
      { ...patch(1), surface: "board" } as ExecutionEvent,
      "surface",
      'recorded undefined, attempted "board"',
    ],
    [
      "the end of a stream",
      delta("a"),
      { ...delta("a"), done: true } as ExecutionEvent,
      "done",
      "recorded false, attempted true",
    ],
    ["a gate of the name of a sleep", sleep, gate("sleep"), "kind", 'recorded "sleep", attempted "event"'],
    ["a step's id", step("a", 1), step("b", 1), "stepId", 'recorded "a", attempted "b"'],
    ["a payload", emitted("e", { n: 1 }), emitted("e", {}), "payload.n", "recorded 1, attempted nothing"],
    ["an event's name", emitted("e", 1), emitted("f", 1), "name", 'recorded "e", attempted "f"'],
    ["a patch", patch([1]), patch([1, 2]), "value[1]", "recorded nothing, attempted 2"],
    ["a delta", delta("one"), delta("two"), "delta", 'recorded "one", attempted "two"'],
    ["a gate's name", gate("a"), gate("b"), "on", 'recorded "a", attempted "b"'],
    [
      "a correlation key",
      gate("a", "k1"),
      gate("a", "k2"),
      "correlationKey",
      'recorded "k1", attempted "k2"',
    ],
  ])("the difference is shown: %s", (_, recorded, attempted, path, words) => {
    const error = between(recorded, attempted);
    expect(error.message).toContain(`They differ at ${path}: ${words}.`);
    expect(error.details).toMatchObject({ field: path });
  });

  test("without a field to show, none is made up", () => {
    for (const [recorded, attempted] of [
      [sleep, step("a", 1)],
      [
        { type: "VALUE_RECORDED", name: "now", value: 1 },
        { type: "VALUE_RECORDED", name: "uuid", value: "u" },
      ],
      [step("a", 1), step("a", 1)],
    ] as [ExecutionEvent, ExecutionEvent][]) {
      const error = between(recorded, attempted);
      expect(error.message).not.toContain("They differ");
      expect(error.details).not.toHaveProperty("field");
    }
  });
});

describe("C-REP-04: the hint names the ambient source", () => {
  const uuid = (n: number) => `0192f0c1-2345-7000-8000-00000000000${n}`;
  test.each([
    ["Date.now()", 1_767_225_600_000, 1_767_225_600_500, "ctx.now()"],
    ["new Date()", new Date(1), new Date(2), "ctx.now()"],
    ["a date in text", "at 2026-01-01T00:00:00.000Z", "at 2026-01-01T00:00:01.000Z", "ctx.now()"],
    ["a timestamp in text", "order-1767225600000", "order-1767225600500", "ctx.now()"],
    ["Math.random()", 0.123_456_7, 0.765_432_1, "ctx.random()"],
    ["a fraction in text", "id-0.1234567", "id-0.7654321", "ctx.random()"],
    ["randomUUID()", uuid(1), uuid(2), "ctx.uuid()"],
    ["a UUID in text", `order/${uuid(1)}`, `order/${uuid(2)}`, "ctx.uuid()"],
  ])("%s", (_, recorded, attempted, remedy) => {
    expect(between(step("a", { v: recorded }), step("a", { v: attempted })).message).toContain(
      `use ${remedy} instead`,
    );
  });

  test.each([
    ["other numbers", 1, 2],
    ["other text", "a", "b"],
    ["a time that became something else", 1_767_225_600_000, "soon"],
    ["a part that was dropped", 1_767_225_600_000, undefined],
  ])("no guess for %s", (_, recorded, attempted) => {
    expect(between(step("a", recorded), step("a", attempted)).message).not.toContain("instead of");
  });
});

test("every kind of entry has a short name", () => {
  expect(SAMPLES.map(label)).toMatchInlineSnapshot(`
    [
      "EXECUTION_STARTED",
      "STEP_STARTED s",
      "STEP_RETRIED s",
      "EFFECT_INDOUBT s",
      "STEP_COMPLETED s",
      "STEP_FAILED s",
      "DECISION_RECORDED d",
      "DECISION_FAILED d",
      "ctx.now()",
      "EXECUTION_SUSPENDED on approve",
      "event approve",
      "GATE_TIMED_OUT approve#0",
      "TIMER_FIRED sleep#0",
      "EXECUTION_RESUMED approve#0",
      "event assessed",
      "event words",
      "SURFACE_PATCH merge k",
      "EXECUTION_COMPLETED",
      "EXECUTION_FAILED",
      "EXECUTION_CANCELLED",
      "event llm_call",
      "CANCEL_REQUESTED",
      "OUTCOME_LATE s",
      "EFFECT_METERED s",
      "QUOTA_EXCEEDED s",
    ]
  `);
});
