// Matchers: what tests say of executions, for the `expect` of vitest or of jest. They bring no test runner in and no types of one.

import type { EventEnvelope, ExecutionState } from "../../kernel/index.js";

/** What a matcher says of an execution: its state, as waits give it, or its log, as `captureGolden` gives it. */
export type ExecutionUnderTest = ExecutionState | readonly EventEnvelope[];

/** The matchers as `expect` has them once they are added: `interface Matchers<T> extends HeddleMatchers<T> {}`. */
export interface HeddleMatchers<R = unknown> {
  /** The execution has completed. */
  toHaveCompleted(): R;
  /** The execution has failed, with an error of this code if one is given. */
  toHaveFailed(code?: string): R;
  /** The execution waits at the gate: its name (`suspend({ on })`) or its id. */
  toBeSuspendedOn(gate: string): R;
  /** By its log, the step was started once and completed. A state cannot tell how often a step was issued. */
  toHaveRunOnce(stepId: string): R;
}

interface Verdict {
  readonly pass: boolean;
  readonly message: () => string;
}

/** For `expect.extend(heddleMatchers)`. */
export const heddleMatchers = {
  toHaveCompleted(received: ExecutionUnderTest): Verdict {
    const { status, error } = standingOf(received);
    return verdict(status === "completed", `to have completed`, `it is ${status}${describeError(error)}`);
  },

  toHaveFailed(received: ExecutionUnderTest, code?: string): Verdict {
    const { status, error } = standingOf(received);
    const isMeant = code === undefined || hasErrorCode(error, code);
    const withCode = code === undefined ? "" : ` with ${code}`;
    return verdict(
      status === "failed" && isMeant,
      `to have failed${withCode}`,
      `it is ${status}${describeError(error)}`,
    );
  },

  toBeSuspendedOn(received: ExecutionUnderTest, gate: string): Verdict {
    const { status, openGates } = standingOf(received);
    const isOpen = openGates.some(({ gateId, on }) => on === gate || gateId === gate);
    const open = openGates.map(({ gateId }) => gateId).join(", ") || "none";
    return verdict(isOpen, `to be suspended on ${gate}`, `it is ${status}, open gates: ${open}`);
  },

  toHaveRunOnce(received: ExecutionUnderTest, stepId: string): Verdict {
    if (!isLog(received))
      throw new TypeError(
        "toHaveRunOnce takes a log: expect(await captureGolden(store, id)).toHaveRunOnce(stepId)",
      );
    const count = (...types: string[]): number =>
      received.filter(({ type, payload }) => types.includes(type) && isOf(payload, stepId)).length;
    const starts = count("STEP_STARTED", "STEP_RETRIED");
    const ends = count("STEP_COMPLETED");
    return verdict(
      starts === 1 && ends === 1,
      `to have run step ${stepId} once`,
      `it was started ${starts} times and completed ${ends} times`,
    );
  },
};

interface OpenGate {
  readonly gateId: string;
  readonly on: string;
}

interface LoggedGate extends OpenGate {
  readonly kind: "event" | "sleep";
  readonly shielded?: boolean;
}

interface Standing {
  readonly status: string;
  readonly error?: unknown;
  readonly openGates: readonly OpenGate[];
}

function standingOf(received: ExecutionUnderTest): Standing {
  if (isLog(received)) return standingOfLog(received);
  if (typeof received !== "object" || received === null || !("gates" in received))
    throw new TypeError("This matcher takes the state of an execution, or its log.");
  const { status, error } = received;
  const openGates = Object.values(received.gates).filter(
    (gate) => gate.kind === "event" && gate.status === "open",
  );
  return { status, error, openGates };
}

const STATUS_OF_END: Readonly<Record<string, string>> = {
  EXECUTION_COMPLETED: "completed",
  EXECUTION_FAILED: "failed",
  EXECUTION_CANCELLED: "cancelled",
};

function standingOfLog(log: readonly EventEnvelope[]): Standing {
  const open = new Map<string, LoggedGate>();
  for (const { type, payload } of log) {
    if (type === "EXECUTION_SUSPENDED") {
      const gate = payload as LoggedGate;
      if (gate.kind === "event") open.set(gate.gateId, gate);
    } else if (type === "EXECUTION_RESUMED") open.delete((payload as OpenGate).gateId);
    else if (type === "CANCEL_REQUESTED")
      for (const { gateId, shielded } of open.values()) if (!shielded) open.delete(gateId);
  }
  const end = log.find(({ type }) => type in STATUS_OF_END);
  if (end)
    return {
      status: STATUS_OF_END[end.type]!,
      error: (end.payload as { error?: unknown }).error,
      openGates: [],
    };
  return { status: open.size > 0 ? "suspended" : "running", openGates: [...open.values()] };
}

function isLog(received: ExecutionUnderTest): received is readonly EventEnvelope[] {
  return Array.isArray(received);
}

function isOf(payload: unknown, stepId: string): boolean {
  return (payload as { readonly stepId?: unknown } | null)?.stepId === stepId;
}

function hasErrorCode(error: unknown, code: string): boolean {
  return (error as { readonly code?: unknown } | undefined)?.code === code;
}

function describeError(error: unknown): string {
  return error instanceof Error ? `: ${error.message}` : "";
}

function verdict(pass: boolean, expectation: string, found: string): Verdict {
  return { pass, message: () => `Expected the execution ${pass ? "not " : ""}${expectation}; ${found}.` };
}
