import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { envelopesOf } from "../../src/kernel/envelope.js";
import { eventFromRow, eventToRow } from "../../src/kernel/event-row.js";
import { checkEvent, EVENT_KINDS, EVENT_SCHEMA_VERSION } from "../../src/kernel/events.js";
import { fromWire, HeddleError, RESERVED_EVENT_NAMES, toWire } from "../../src/kernel/index.js";
import { anyEvent, SAMPLES } from "../support/events.js";

const kinds = Object.entries(EVENT_KINDS);

describe("the table of event kinds", () => {
  test("every kind is complete", () => {
    for (const [type, row] of kinds) {
      expect(Number.isInteger(row.code) && row.code > 0, type).toBe(true);
      expect(row.since, type).toBeGreaterThan(0);
      expect(row.since, type).toBeLessThanOrEqual(EVENT_SCHEMA_VERSION);
      expect(Object.keys(row.fields).length, type).toBeGreaterThan(0);
      expect(row.fold, type).toBeTypeOf("function");
    }
  });

  test("there is a sample of every kind", () => {
    expect(SAMPLES.map(({ type }) => type).sort()).toEqual(Object.keys(EVENT_KINDS).sort());
  });

  // Part of the format: a code is never changed or reused, the order of the fields is that of the stored row.
  test("codes and field orders are those of format 1", () => {
    const rows = kinds.map(([type, { code, fields }]) => `${code} ${type} ${Object.keys(fields).join(",")}`);
    expect(rows).toMatchInlineSnapshot(`
      [
        "1 EXECUTION_STARTED flowId,flowVersion,input,flags,principal,deadlineAt",
        "2 STEP_STARTED stepId,input,kind,toolId,shielded,deadlineAt",
        "3 STEP_RETRIED stepId,attempt,reason,dueAt,error",
        "4 STEP_COMPLETED stepId,output,used",
        "5 STEP_FAILED stepId,error,channel,payload,used",
        "6 DECISION_RECORDED decisionId,choice,source,rationale",
        "7 DECISION_FAILED decisionId,error",
        "8 VALUE_RECORDED name,value",
        "9 EXECUTION_SUSPENDED gateId,kind,on,wakeAt,correlationKey,shielded",
        "10 GATE_EVENT name,gateId,payload",
        "11 GATE_TIMED_OUT gateId,on",
        "12 TIMER_FIRED gateId",
        "13 EXECUTION_RESUMED gateId,reason,requestId",
        "14 DOMAIN_EVENT name,payload",
        "15 STREAM_DELTA name,delta,done",
        "16 SURFACE_PATCH operation,key,value,surface",
        "17 EXECUTION_COMPLETED output",
        "18 EXECUTION_FAILED error",
        "19 EXECUTION_CANCELLED reason,code,error",
        "20 EFFECT_EVENT stepId,name,payload",
        "21 EFFECT_INDOUBT stepId,attempt,error",
        "22 CANCEL_REQUESTED reason,code",
        "23 OUTCOME_LATE stepId,attempt,kind,error,issue",
        "24 EFFECT_METERED stepId,attempt,used",
        "25 QUOTA_EXCEEDED stepId,scope,meter,limit,used",
      ]
    `);
    expect(new Set(kinds.map(([, { code }]) => code)).size).toBe(kinds.length);
  });

  test("the names of the kinds are reserved", () => {
    expect([...RESERVED_EVENT_NAMES].sort()).toEqual(Object.keys(EVENT_KINDS).sort());
  });
});

describe("rows", () => {
  test.each(SAMPLES)("$type comes back from its row", (event) => {
    expect(eventFromRow(eventToRow(event))).toEqual(event);
  });

  test("any event comes back from its row", () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(eventFromRow(eventToRow(event))).toStrictEqual({ ...event });
      }),
    );
  });

  test("absent fields at the end take no room", () => {
    expect(
      eventToRow({ type: "STEP_STARTED", stepId: "a", input: undefined, kind: "step", toolId: undefined }),
    ).toEqual([2, "a", undefined, "step"]);
    expect(eventToRow({ type: "EXECUTION_COMPLETED", output: undefined })).toEqual([17]);
  });

  test.each([
    ["a number", 7],
    ["nothing", undefined],
    ["an empty row", []],
    ["an unknown kind", [999]],
    ["a kind that is no number", ["1"]],
  ])("%s is no row", (_, stored) => {
    expect(() => eventFromRow(stored)).toThrow(
      expect.objectContaining({ code: "RECORD_UNREADABLE" }) as HeddleError,
    );
  });
});

describe("checkEvent", () => {
  test("takes every sample, and any event", () => {
    for (const event of SAMPLES) checkEvent(event);
    fc.assert(
      fc.property(anyEvent, (event) => {
        checkEvent(event);
      }),
    );
  });

  test.each(SAMPLES)("refuses a $type with a field of another type, naming it", (event) => {
    const wires = new Set([
      "input",
      "output",
      "error",
      "payload",
      "choice",
      "rationale",
      "value",
      "delta",
      "principal",
    ]);
    for (const field of Object.keys(event).filter((name) => name !== "type" && !wires.has(name))) {
      const broken = { ...event, [field]: { not: "it" } };
      expect(() => checkEvent(broken), field).toThrow(
        expect.objectContaining({
          code: "RECORD_UNREADABLE",
          message: expect.stringContaining(`${event.type} is malformed at ${field}`) as string,
        }) as HeddleError,
      );
    }
  });
});

describe("envelopes", () => {
  test.each(SAMPLES)("$type has a public form", (event) => {
    const [envelope] = envelopesOf("x", { sequence: 4, timestamp: 9, events: [event] });
    expect({ type: event.type, envelope }).toMatchSnapshot();
  });

  test("events of a record are numbered on from its sequence", () => {
    const envelopes = envelopesOf("x", { sequence: 7, timestamp: 9, events: SAMPLES });
    expect(envelopes.map(({ sequence }) => sequence)).toEqual(SAMPLES.map((_, index) => 7 + index));
  });

  test("C-EFF-04: what one reader does to a payload no other sees", () => {
    const record = {
      sequence: 0,
      timestamp: 0,
      events: [{ type: "DOMAIN_EVENT", name: "n", payload: toWire({ list: [1] }) }],
    } as const;
    const [first] = envelopesOf("x", record);
    (first?.payload as { list: number[] }).list.push(2);
    const [second] = envelopesOf("x", record);
    expect(second?.payload).toEqual({ list: [1] });
    expect(fromWire(record.events[0].payload)).toEqual({ list: [1] });
  });
});
