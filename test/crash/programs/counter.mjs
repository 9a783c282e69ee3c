// Counter: where effects tell the outside world that they began and that they are done.
//
// HEDDLE_TEST_COUNTER: the outside world, a file that only grows. A line is handed to the operating system before the call
// returns, so it outlives a SIGKILL of the writer; lines of several threads and processes never mix.

import { openSync, writeSync } from "node:fs";

export const counterPath = process.env.HEDDLE_TEST_COUNTER;
const counter = openSync(counterPath, "a");

export function count(moment, { executionId, stepId, idempotencyKey, attempt }) {
  writeSync(counter, `${JSON.stringify({ moment, executionId, stepId, idempotencyKey, attempt })}\n`);
}
