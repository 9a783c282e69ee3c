import { describe, expect, test } from "vitest";
import {
  ERROR_CODES,
  failureToWire,
  fromWire,
  HeddleError,
  type HeddleErrorCode,
  hasCode,
  invariant,
  PartitionLockedError,
  ResumePayloadValidationError,
  TypedFailure,
} from "../../src/kernel/index.js";

const codes = Object.keys(ERROR_CODES) as HeddleErrorCode[];

describe("error codes", () => {
  test.each(codes)("%s is an error of that code, with a meaning", (code) => {
    const error = new HeddleError(code, "what happened");
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: "HeddleError", code, message: "what happened", details: {} });
    expect(error.retryable).toBe(ERROR_CODES[code].retryable);
    expect(ERROR_CODES[code].meaning).not.toBe("");
    expect("cause" in error).toBe(false);
  });

  // Callers store and compare codes: none is ever renamed or dropped.
  test("those of 0.1 are all there", () => {
    expect(codes.sort()).toMatchInlineSnapshot(`
      [
        "AGENT_ANSWER_INVALID",
        "AGENT_CONTEXT_UNTRUSTED",
        "AGENT_CORRECTION_LIMIT",
        "AGENT_EMPTY_ANSWER",
        "AGENT_LOOP_CONFIG_INVALID",
        "AGENT_SEARCH_UNAVAILABLE",
        "AGENT_SKILL_UNAVAILABLE",
        "AGENT_TOOL_CHANGED",
        "AGENT_TURN_LIMIT",
        "AGENT_TURN_UNREADABLE",
        "CANCELLED",
        "CHANNEL_REFUSED",
        "CONFIG_INVALID",
        "CONFIG_OPTION_MOVED",
        "CONTENT_MISSING",
        "CONTEXT_MISUSED",
        "DEFINITION_CONFLICT",
        "DIGEST_FAILED",
        "DIRECTORY_UNKNOWN",
        "EFFECT_DEADLINE_EXCEEDED",
        "EFFECT_DENIED",
        "EFFECT_MODE_VIOLATION",
        "EFFECT_STOPPED",
        "EFFECT_TIMED_OUT",
        "EFFECT_UNKNOWN",
        "EFFECT_WORKER_LOST",
        "EXECUTION_CANCELLED",
        "EXECUTION_CONFLICT",
        "EXECUTION_DENIED",
        "EXECUTION_ENDED",
        "EXECUTION_FAILED",
        "EXECUTION_QUARANTINED",
        "EXECUTION_SET_ASIDE",
        "EXECUTION_UNKNOWN",
        "FLOW_UNKNOWN",
        "FOREIGN_AWAIT",
        "FORMAT_UNSUPPORTED",
        "GATE_ALREADY_RESOLVED",
        "GATE_AMBIGUOUS",
        "GATE_NOT_OPEN",
        "GATE_TIMED_OUT",
        "IDEMPOTENT_TOOL_REFUSED",
        "ID_INVALID",
        "INPUT_INVALID",
        "INVARIANT_BROKEN",
        "LLM_ABORTED",
        "LLM_CONTEXT_TOO_LONG",
        "LLM_PROMPT_INVALID",
        "LLM_RATE_LIMITED",
        "LLM_REQUEST_REFUSED",
        "LLM_RESPONSE_INVALID",
        "LLM_SDK_MISSING",
        "LLM_UNAUTHENTICATED",
        "LLM_UNAVAILABLE",
        "NEXT_MISUSED",
        "OUTPUT_INVALID",
        "OVERLOADED",
        "PARTITION_LOCKED",
        "PARTITION_THREAD_LOST",
        "QUOTA_EXCEEDED",
        "RECORDING_MISSING",
        "RECORD_UNREADABLE",
        "REPLAY_DIVERGED",
        "RESUME_PAYLOAD_INVALID",
        "RESUME_UNAUTHENTICATED",
        "RUNTIME_CLOSED",
        "RUNTIME_NOT_STARTED",
        "SEALED_UNREADABLE",
        "SEALING_KEY_MISSING",
        "SECRET_UNRESOLVED",
        "STEP_FAILED",
        "STEP_ID_REUSED",
        "STEP_NOT_IN_DOUBT",
        "STEP_STOPPED",
        "STORAGE_FAILED",
        "TYPED_FAILURE",
        "VALUE_NOT_RECORDABLE",
        "VALUE_TOO_LARGE",
        "WAIT_TIMED_OUT",
      ]
    `);
  });

  test("a cause is kept, also one that is undefined", () => {
    const cause = new Error("deeper");
    expect(new HeddleError("STORAGE_FAILED", "m", { cause }).cause).toBe(cause);
    expect("cause" in new HeddleError("STORAGE_FAILED", "m", { cause: undefined })).toBe(true);
  });
});

describe("errors callers handle apart", () => {
  const issues = [{ path: "amount", message: "too low" }];
  const factories: readonly [HeddleError, string, HeddleErrorCode][] = [
    [
      new ResumePayloadValidationError("m", issues, { eventType: "e" }),
      "ResumePayloadValidationError",
      "RESUME_PAYLOAD_INVALID",
    ],
    [
      new PartitionLockedError("/data", { pid: 7, host: "h", since: 0 }),
      "PartitionLockedError",
      "PARTITION_LOCKED",
    ],
    [new PartitionLockedError("/data", undefined), "PartitionLockedError", "PARTITION_LOCKED"],
    [new TypedFailure("soldOut", { left: 0 }), "TypedFailure", "TYPED_FAILURE"],
  ];

  test.each(factories)("%o", (error, name, code) => {
    expect(error).toBeInstanceOf(HeddleError);
    expect(error).toMatchObject({ name, code });
  });

  test("carry what is needed to handle them", () => {
    expect(factories[0]![0]).toMatchObject({ issues, details: { eventType: "e", issues } });
    expect(factories[1]![0].message).toContain("process 7 on h (since 1970-01-01T00:00:00.000Z)");
    expect(factories[1]![0].details).toEqual({ directory: "/data", owner: { pid: 7, host: "h", since: 0 } });
    expect(factories[2]![0].message).toContain("another runtime");
    expect(factories[3]![0]).toMatchObject({
      channel: "soldOut",
      payload: { left: 0 },
      message: "failed on channel soldOut",
    });
    expect(new TypedFailure("c", 1, "in words").message).toBe("in words");
  });

  test("a broken invariant is an error with its label", () => {
    expect(() => invariant(true, "P1", "fine")).not.toThrow();
    expect(() => invariant(false, "P1", "not dense")).toThrow(
      expect.objectContaining({
        code: "INVARIANT_BROKEN",
        message: "P1: not dense",
        details: { label: "P1" },
      }) as Error,
    );
  });
});

describe("hasCode", () => {
  test("tells an error by its code, also one that came back from a log", () => {
    const error = new HeddleError("GATE_NOT_OPEN", "m", { details: { gate: "g" } });
    const recorded = fromWire(failureToWire(error));
    expect(recorded).not.toBeInstanceOf(HeddleError);
    expect(hasCode(recorded, "GATE_NOT_OPEN")).toBe(true);
    expect(recorded).toMatchObject({ name: "HeddleError", message: "m", details: { gate: "g" } });
    expect(hasCode(error, "GATE_AMBIGUOUS")).toBe(false);
  });

  test.each([undefined, null, "GATE_NOT_OPEN", 7, {}])("%s has none", (value) => {
    expect(hasCode(value, "GATE_NOT_OPEN")).toBe(false);
  });
});
