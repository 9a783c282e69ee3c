// OutsideWorld: what the effects of a crash test did, from the counter file they wrote, and the rules it must obey.
//
// W1  A step's attempts carry one idempotency key, and their numbers rise strictly: no attempt is dispatched twice. Except in the pool,
//     where a call that only shared its thread with the one that took it down runs again as the same attempt.
// W2  An effect whose outcome is in the log never starts again.

import assert from "node:assert/strict";
import { closeSync, openSync, readSync } from "node:fs";

interface Line {
  readonly moment: "start" | "finish";
  readonly executionId: string;
  readonly stepId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
}

export interface StepRuns {
  readonly idempotencyKey: string;
  /** Numbers of the attempts that started, in the order of their starts. */
  readonly started: number[];
  readonly finished: number[];
}

export class OutsideWorld {
  readonly runs = new Map<string, StepRuns>();
  readonly #path: string;
  readonly #isPooled: (stepId: string) => boolean;
  /** Steps whose outcome was found in the log, under the name of `nameOf`. */
  readonly #settled = new Set<string>();
  #offset = 0;
  #rest = "";

  constructor(path: string, isPooled: (stepId: string) => boolean = () => false) {
    this.#path = path;
    this.#isPooled = isPooled;
  }

  runsOf(executionId: string, stepId: string): StepRuns | undefined {
    return this.runs.get(nameOf(executionId, stepId));
  }

  /** From now on this step must not start again. */
  settle(executionId: string, stepId: string): void {
    this.#settled.add(nameOf(executionId, stepId));
  }

  /** Takes in what was written since the last call, and holds it against the rules. Returns how many effects began. */
  catchUp(where: string): number {
    let began = 0;
    for (const line of this.#newLines()) {
      const { moment, executionId, stepId, idempotencyKey, attempt } = parse(line, where);
      const name = nameOf(executionId, stepId);
      const known = this.runs.get(name);
      const runs = known ?? { idempotencyKey, started: [], finished: [] };
      if (!known) this.runs.set(name, runs);
      assert.equal(idempotencyKey, runs.idempotencyKey, `${where}: key of ${name} (W1)`);
      if (moment === "start") {
        assert.ok(
          !this.#settled.has(name),
          `${where}: ${name} started again after its outcome was recorded (W2)`,
        );
        const last = runs.started.at(-1) ?? 0;
        const follows = attempt > last || (attempt === last && this.#isPooled(stepId));
        assert.ok(follows, `${where}: ${name} started as attempt ${attempt} after attempt ${last} (W1)`);
        runs.started.push(attempt);
        began++;
      } else runs.finished.push(attempt);
    }
    return began;
  }

  #newLines(): string[] {
    const fd = openSync(this.#path, "a+");
    const chunk = Buffer.alloc(65_536);
    try {
      for (;;) {
        const size = readSync(fd, chunk, 0, chunk.length, this.#offset);
        if (size === 0) break;
        this.#offset += size;
        this.#rest += chunk.toString("utf8", 0, size);
      }
    } finally {
      closeSync(fd);
    }
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() ?? "";
    return lines;
  }
}

function parse(line: string, where: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch (cause) {
    throw new Error(`${where}: the counter has the line ${line}`, { cause });
  }
}

function nameOf(executionId: string, stepId: string): string {
  return `${executionId} ${stepId}`;
}
