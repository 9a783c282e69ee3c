// Waiting for what an app gets to by itself, and what it is seen to be at.

import { checkDuration, HeddleError } from "../../kernel/index.js";
import type { ProjectionRuntime } from "../../surface/index.js";

export interface WaitOptions {
  /** How long to wait, in milliseconds of the host. Default 5,000. */
  readonly timeoutMs?: number;
  /** How long between two looks, in milliseconds of the host. Default 10. */
  readonly intervalMs?: number;
}

/**
 * Asks until the answer is yes; what the predicate throws is passed on.
 *
 * @throws WAIT_TIMED_OUT when the answer is still no after `timeoutMs`, INPUT_INVALID for what is no length of time
 */
export async function waitFor(
  predicate: () => boolean | Promise<boolean>,
  options: WaitOptions = {},
): Promise<void> {
  await wait(predicate, options, () => "what it waited for never held");
}

/**
 * Waits until the `phase` of a surface of an execution is `phase`.
 *
 * @throws WAIT_TIMED_OUT, naming the phase it stayed at; CONFIG_INVALID for a surface that is not registered
 */
export async function waitForPhase(
  projections: ProjectionRuntime,
  surfaceId: string,
  executionId: string,
  phase: string,
  options: WaitOptions = {},
): Promise<void> {
  const current = (): unknown => getSurfaceState(projections, surfaceId, executionId)["phase"];
  await wait(
    () => current() === phase,
    options,
    () => `surface ${surfaceId} of ${executionId} is at phase ${JSON.stringify(current())}, not "${phase}"`,
  );
}

/** The state of a surface of an execution, as a fresh copy; `{}` while nothing was patched. */
export function getSurfaceState<T = Record<string, unknown>>(
  projections: ProjectionRuntime,
  surfaceId: string,
  executionId: string,
): T {
  return projections.getState<T>(surfaceId, executionId);
}

async function wait(
  predicate: () => boolean | Promise<boolean>,
  { timeoutMs = 5_000, intervalMs = 10 }: WaitOptions,
  complaint: () => string,
): Promise<void> {
  checkDuration("INPUT_INVALID", "waitFor: timeoutMs", timeoutMs);
  checkDuration("INPUT_INVALID", "waitFor: intervalMs", intervalMs);
  const deadline = performance.now() + timeoutMs;
  while (!(await predicate())) {
    if (performance.now() >= deadline)
      throw new HeddleError("WAIT_TIMED_OUT", `After ${timeoutMs} ms ${complaint()}.`, {
        details: { timeoutMs },
      });
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
