// Drives the execution of a golden log to its end, from wherever it is: answers, verdicts, a cancellation, time.

import type { LoomApp } from "../../src/app/define-config.js";
import { type ExecutionState, isTerminal } from "../../src/kernel/index.js";
import { advanceTime, fireDueTimers } from "../../src/testing/index.js";
import type { GoldenFlow } from "./flows.js";
import { ID } from "./golden-log.js";

/** More moves than any of them needs. */
const MOVES_MAX = 100;
const STEP_MS = 60_000;

export async function drive(
  app: LoomApp,
  { answers = {}, cancelAt, staysOpen }: GoldenFlow,
): Promise<ExecutionState> {
  const { runtime } = app;
  for (let move = 0; move < MOVES_MAX; move++) {
    await fireDueTimers(app);
    const state = await runtime.loadState(ID);
    if (isTerminal(state.status)) return state;
    const gates = Object.values(state.gates).filter(
      ({ kind, status }) => kind === "event" && status === "open",
    );
    if (staysOpen && gates.length === 2) return state;
    const answerable = gates.find(({ on }) => on in answers);
    const doubtful = Object.values(state.frames).find(({ status }) => status === "inDoubt");
    if (gates.some(({ on }) => on === cancelAt)) await runtime.cancel(ID, "enough");
    else if (answerable)
      await runtime.resume(ID, {
        eventType: answerable.on,
        gateId: answerable.gateId,
        payload: answers[answerable.on],
        requestId: answerable.gateId,
      });
    else if (doubtful) await runtime.resolveInDoubt(ID, doubtful.stepId, { outcome: "found done" });
    else await advanceTime(app, STEP_MS);
  }
  throw new Error(`${ID} got nowhere in ${MOVES_MAX} moves: ${JSON.stringify(await runtime.loadState(ID))}`);
}
