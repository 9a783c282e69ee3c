// The app module of the kill rounds: the flow of test/crash, whose effects write to the outside counter named in the
// environment. The host kills the process; what happens in a thread, happens to all of it.

import { writeFileSync } from "node:fs";
import { mixedFlow, openCounter } from "../../../crash/programs/mixed-flow.mjs";

const { HEDDLE_TEST_COUNTER, HEDDLE_TEST_DEATH } = process.env;
const death = HEDDLE_TEST_DEATH ? JSON.parse(HEDDLE_TEST_DEATH) : undefined;
let passed = 0;
/** Kills the process, or ends this thread, when a named point is passed for the count-th time. Once: the next thread lives. */
function at(point) {
  if (death?.point !== point || ++passed !== death.count) return;
  if (death.kind === "process") process.kill(process.pid, "SIGKILL");
  try {
    writeFileSync(death.once, "", { flag: "wx" });
  } catch {
    return;
  }
  process.exit(9);
}

export const mixed = mixedFlow(openCounter(HEDDLE_TEST_COUNTER), at);
