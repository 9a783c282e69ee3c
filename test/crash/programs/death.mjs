// Death: ends the process, or this thread of it, when a named point is passed for the count-th time.
//
// HEDDLE_TEST_DEATH = '{ "point", "count", "kind"?: "process" | "thread", "once"? }'. A thread dies once: `once` names a file that
// is made by its death, so that the thread that comes after it lives.

import { writeFileSync } from "node:fs";

const death = JSON.parse(process.env.HEDDLE_TEST_DEATH || "null");
let passed = 0;

/** May not come back. */
export function at(point) {
  if (death?.point !== point || ++passed !== death.count) return;
  if (death.kind !== "thread") process.kill(process.pid, "SIGKILL");
  try {
    writeFileSync(death.once, "", { flag: "wx" });
  } catch {
    return;
  }
  process.exit(9);
}
