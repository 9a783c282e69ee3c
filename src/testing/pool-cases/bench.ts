// What a case of the pool suite is given.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Effect, EffectExecutor } from "../../effects/index.js";
import { Attempt, type AttemptOptions } from "./attempt.js";

/** The effects the cases call. */
export interface PoolProgram {
  /** By id. */
  readonly effects: Readonly<Record<string, Effect>>;
  /** The module that exports the same as `effects`, for workers that load one. */
  readonly module: URL;
  /** So many calls may be under way at a time, on all workers together. Absent: as many as the pool likes, at least four. */
  readonly callsMax?: number;
}

export interface PoolUnderTest {
  readonly executor: EffectExecutor;
  /**
   * Lets what is under way go on for so many milliseconds, then settles what is left and gives back whatever there is: threads,
   * processes, timers. May be called again.
   */
  readonly close: (deadlineMs: number) => Promise<void>;
}

export interface PoolCapabilities {
  /** Effects run in threads, or processes, of their own: these may be lost, values are copied on the way, closing ends them. */
  readonly workers: boolean;
}

/** Runs a case on a fresh pool. */
export type PoolTest = (title: string, run: (bench: Bench) => Promise<void>, callsMax?: number) => void;

/** One case's executor, and the file its effects leave marks in. */
export class Bench {
  readonly #underTest: PoolUnderTest;
  readonly #dir = mkdtempSync(join(tmpdir(), "heddle-pool-"));
  readonly #attempts: Attempt[] = [];

  constructor(underTest: PoolUnderTest) {
    this.#underTest = underTest;
  }

  /** Where effects leave a line when they are told to, so that they are heard of when their worker is no more. */
  get file(): string {
    return join(this.#dir, "marks");
  }

  get marks(): readonly string[] {
    return existsSync(this.file) ? readFileSync(this.file, "utf8").split("\n").slice(0, -1) : [];
  }

  /** An attempt of a step of its own, dispatched. */
  dispatch(toolId: string, input?: unknown, options?: AttemptOptions): Attempt {
    return this.prepare(toolId, input, options).dispatchTo(this.#underTest.executor);
  }

  /** The same, still to be dispatched. */
  prepare(toolId: string, input?: unknown, options?: AttemptOptions): Attempt {
    const attempt = new Attempt(`step-${this.#attempts.length}`, toolId, input, options);
    this.#attempts.push(attempt);
    return attempt;
  }

  get executor(): EffectExecutor {
    return this.#underTest.executor;
  }

  close(deadlineMs = 0): Promise<void> {
    return this.#underTest.close(deadlineMs);
  }

  /** Nothing is settled twice; and where closing ends the workers nothing is left. */
  checkSettled({ workers }: PoolCapabilities): void {
    for (const { stepId, toolId, outcomes, late, heard } of this.#attempts) {
      const what = `step ${stepId} (${toolId}): ${heard.join(", ")}`;
      assert.ok(outcomes.length <= 1, `settled ${outcomes.length} times: ${what}`);
      assert.ok(late.length <= 1, `late ${late.length} times: ${what}`);
      if (workers) assert.equal(outcomes.length, 1, `never settled: ${what}`);
    }
  }

  async dispose(): Promise<void> {
    try {
      await this.close();
    } finally {
      rmSync(this.#dir, { recursive: true, force: true });
    }
  }
}
