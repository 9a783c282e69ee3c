// Why an attempt was told to stop: by the program, which wants what there is, or by the runtime, which waits for nothing more.

import { type HeddleErrorCode, hasCode } from "../../kernel/index.js";

/** What heddle aborts the signal of an attempt with that it has given up. Anything else is the reason of a step's own signal. */
const GIVEN_UP: readonly HeddleErrorCode[] = [
  "CANCELLED",
  "EFFECT_DEADLINE_EXCEEDED",
  "EFFECT_TIMED_OUT",
  "EXECUTION_CANCELLED",
  "EXECUTION_ENDED",
  "RUNTIME_CLOSED",
  "STORAGE_FAILED",
];

/** Whether somebody still takes what the attempt comes to. */
export function isInterruption(signal: AbortSignal): boolean {
  return signal.aborted && !GIVEN_UP.some((code) => hasCode(signal.reason, code));
}
