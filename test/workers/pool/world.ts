// World: pools for tests. The host's side runs from the sources, the threads run the built package.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { EffectPool, type EffectPoolOptions, type PoolCall } from "../../../src/workers/pool/index.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

export { until } from "../../support/until.js";

export const ENTRY = new URL("../../../dist/workers/effects.worker.cjs", import.meta.url);
export const EFFECTS = new URL("./programs/effects.mjs", import.meta.url);

export async function openPool(options: Partial<EffectPoolOptions> = {}): Promise<EffectPool> {
  const pool = await EffectPool.open({ module: EFFECTS, entry: ENTRY, maxThreads: 1, ...options });
  onTestFinished(() => pool.close({ deadlineMs: 0 }));
  return pool;
}

let calls = 0;

export function callOf(effectId: string, input?: unknown, rest: Partial<PoolCall> = {}): PoolCall {
  const stepId = `step#${calls++}`;
  return {
    effectId,
    input,
    executionId: "execution",
    workflowId: "flow",
    stepId,
    attempt: 1,
    toolId: effectId,
    taskKind: "tool",
    idempotencyKey: `execution/${stepId}`,
    ...rest,
  };
}

/** A file that invocations mark, and what they have left in it. */
export function markFile(): { readonly mark: string; readonly lines: () => string[] } {
  const mark = join(temporaryDirectory(), "marks");
  return { mark, lines: () => (existsSync(mark) ? readFileSync(mark, "utf8").split("\n").slice(0, -1) : []) };
}

export const countOf = (lines: readonly string[], name: string): number =>
  lines.filter((line) => line === name).length;
