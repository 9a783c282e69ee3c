import { describe, expect, it } from "vitest";
import { toWire } from "../../../src/kernel/codec/index.js";
import { envelopesOf } from "../../../src/kernel/envelope.js";
import type { ExecutionEvent } from "../../../src/kernel/events.js";

function shown(event: ExecutionEvent): unknown {
  const [envelope] = envelopesOf("e", { sequence: 4, timestamp: 9, events: [event] });
  return [envelope?.type, envelope?.payload];
}

describe("an event as programs see it", () => {
  it("carries its position", () => {
    const events = ["a", "b"].map((name) => ({ type: "DOMAIN_EVENT", name, payload: null }) as const);
    expect(envelopesOf("e", { sequence: 4, timestamp: 9, events })).toEqual([
      { executionId: "e", sequence: 4, type: "a", timestamp: 9, payload: null },
      { executionId: "e", sequence: 5, type: "b", timestamp: 9, payload: null },
    ]);
  });

  it("has its own name for what a user named", () => {
    const payload = toWire({ at: new Date(5) });
    const seen = { at: new Date(5) };
    expect(shown({ type: "GATE_EVENT", name: "approved", gateId: "g", payload })).toEqual(["approved", seen]);
    expect(shown({ type: "DOMAIN_EVENT", name: "priced", payload })).toEqual(["priced", seen]);
    expect(shown({ type: "EFFECT_EVENT", stepId: "s", name: "progress", payload })).toEqual([
      "progress",
      seen,
    ]);
    expect(shown({ type: "STREAM_DELTA", name: "token", delta: "he", done: true })).toEqual([
      "token",
      { delta: "he", done: true },
    ]);
  });

  it("leaves out what is absent, and decodes what is there", () => {
    expect(
      shown({
        type: "EXECUTION_SUSPENDED",
        gateId: "g",
        kind: "event",
        on: "approved",
        wakeAt: undefined,
        correlationKey: undefined,
      }),
    ).toStrictEqual(["EXECUTION_SUSPENDED", { gateId: "g", kind: "event", on: "approved" }]);
    const error = toWire(new TypeError("no"));
    expect(
      shown({ type: "STEP_FAILED", stepId: "s", error, channel: undefined, payload: undefined }),
    ).toStrictEqual(["STEP_FAILED", { stepId: "s", error: new TypeError("no") }]);
  });
});
