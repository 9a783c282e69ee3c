// Refusals: what several doors of a runtime answer with.

import { HeddleError } from "../kernel/index.js";

export function closedError(): HeddleError {
  return new HeddleError(
    "RUNTIME_CLOSED",
    "The runtime was closed; its executions go on when the directory is opened again.",
  );
}

export function unknownExecution(executionId: string): HeddleError {
  return new HeddleError("EXECUTION_UNKNOWN", `There is no execution ${executionId} in this log.`, {
    details: { executionId },
  });
}
