// Views: what clients are shown of an execution.

import type { ExecutionHeader, ExecutionState } from "heddle";

export function refundView(state: ExecutionState): object {
  const { executionId: id, status, input, variables, error, reason, startedAt, updatedAt } = state;
  const waitingFor = Object.values(state.gates)
    .filter((gate) => gate.kind === "event" && gate.status === "open")
    .map(({ on, openedAt, wakeAt }) => ({ gate: on, since: openedAt, until: wakeAt }));
  return {
    id,
    status,
    refund: input,
    waitingFor,
    outcome: variables["_output"],
    error: error === undefined ? undefined : plainError(error),
    reason,
    startedAt,
    updatedAt,
  };
}

export function listView(header: ExecutionHeader): object {
  const { id, status, createdAt, updatedAt, aside } = header;
  return { id, status, createdAt, updatedAt, aside };
}

/** As JSON.stringify, with what a log can hold and JSON cannot: errors become code and message, bigints text. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (part instanceof Error) return plainError(part);
    return typeof part === "bigint" ? String(part) : part;
  });
}

function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = "code" in error ? error.code : undefined;
  return { name: error.name, code, message: error.message }; // no stack: it names our files
}
