// EffectChecks: what an effect may rely on, and who reads what it came to.
//
// E1  Nothing is dispatched whose request is not durable. (ARCHITECTURE.md, The pass)
// E2  Nothing begins whose outcome is in the log, unless its process does not know yet that it lost the log.
// E3  What may not be repeated runs again only when it is known to have failed, or somebody said so. Where the clock was set back,
//     a retry that was dispatched looks like one that is not due yet, and this holds for first attempts alone (ARCHITECTURE.md, Faults).
// E4  A recorded output is one that an attempt of that very request gave, or that came with a verdict.

import { type ExecutionEvent, sameWire, type Wire } from "../../../kernel/index.js";
import type { Logs } from "../logs.js";
import { type AttemptId, type Observation, type Observer, Violation } from "../observation.js";

export class EffectChecks implements Observer {
  readonly #logs: Logs;
  /** By idempotency key: what attempts gave. */
  readonly #outputs = new Map<string, Wire[]>();
  /** By idempotency key: runs of what may not be repeated that are not known to have failed. */
  readonly #unaccounted = new Map<string, number>();
  /** Steps that were given an output by a verdict. */
  readonly #decided = new Set<string>();

  constructor(logs: Logs) {
    this.#logs = logs;
  }

  see(observation: Observation): void {
    switch (observation.kind) {
      case "dispatched":
        return this.#dispatched(observation.attempt);
      case "begun":
        if (!observation.isFenced) this.#begun(observation.attempt, observation.mayRepeat);
        return;
      case "outcome": {
        const { attempt, outcome } = observation;
        if (outcome.kind === "completed") this.#outputsOf(attempt.key).push(outcome.output);
        if (outcome.kind === "failed" || outcome.kind === "failedOnChannel")
          this.#unaccounted.delete(attempt.key);
        return;
      }
      case "asked":
        if (observation.request.kind === "verdict")
          this.#decided.add(`${observation.request.executionId} ${observation.request.stepId}`);
        return;
      case "written":
        for (const event of observation.record.events) this.#written(observation.executionId, event);
        return;
      default:
    }
  }

  // E1
  #dispatched({ executionId, stepId, key, attempt }: AttemptId): void {
    const log = this.#logs.of(executionId);
    if (!log.isDurable(log.issues.get(key)?.requestedAt[attempt - 1]))
      throw new Violation(
        "E1",
        `attempt ${attempt} of ${executionId}/${stepId} was dispatched; its request is not durable.`,
      );
  }

  #begun({ executionId, stepId, key, attempt }: AttemptId, mayRepeat: boolean): void {
    const closedAt = this.#logs.of(executionId).issues.get(key)?.closedAt;
    if (closedAt !== undefined)
      throw new Violation(
        "E2",
        `attempt ${attempt} of ${executionId}/${stepId} began; its outcome is event ${closedAt}.`,
      );
    if (mayRepeat) return;
    const runs = (this.#unaccounted.get(key) ?? 0) + 1;
    this.#unaccounted.set(key, runs);
    if (runs > 1 && !(this.#logs.wasSetBack && attempt > 1))
      throw new Violation("E3", `${executionId}/${stepId} may not be repeated, and ran again.`);
  }

  #written(executionId: string, event: ExecutionEvent): void {
    if (event.type !== "STEP_COMPLETED" && event.type !== "STEP_RETRIED") return;
    const key = this.#logs.of(executionId).latest(event.stepId)?.key ?? "";
    if (event.type === "STEP_RETRIED") {
      if (event.reason === "verdict" || event.reason === "decided") this.#unaccounted.delete(key);
      return;
    }
    const isGiven = this.#outputsOf(key).some((output) => sameWire(output, event.output));
    if (!isGiven && !this.#decided.has(`${executionId} ${event.stepId}`))
      throw new Violation("E4", `${executionId}/${event.stepId} is recorded with an output nobody gave.`);
  }

  #outputsOf(key: string): Wire[] {
    let outputs = this.#outputs.get(key);
    if (!outputs) this.#outputs.set(key, (outputs = []));
    return outputs;
  }
}
