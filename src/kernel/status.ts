// Status: how an execution stands, as its log tells it and as its header is filed.

export type ExecutionStatus = "running" | "suspended" | "completed" | "failed" | "cancelled";

/**
 * How a header is filed. An execution that cannot run with the code at hand (unknown flow, diverged, unreadable) is
 * filed as set aside, whatever its log says, so that opening a directory finds these without a scan.
 */
export type FiledStatus = ExecutionStatus | "setAside";

/** All there are, in the order an execution may go through them. */
export const FILED_STATUSES: readonly FiledStatus[] = [
  "running",
  "suspended",
  "completed",
  "failed",
  "cancelled",
  "setAside",
];

/** Whether nothing more will be recorded for an execution of this status. */
export function isTerminal(status: FiledStatus): status is "completed" | "failed" | "cancelled" {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** Why the runtime itself cancelled an execution; absent when somebody asked for it. */
export type CancelCode = "DEADLINE_EXCEEDED";
