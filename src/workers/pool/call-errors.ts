// The errors a pool fails calls with, and the words for what happened to a thread.

import { HeddleError } from "../../kernel/index.js";
import type { PendingCall, PoolCall } from "./call.js";
import type { LaneEnd } from "./lane.js";

export function closedError(): HeddleError {
  return new HeddleError(
    "RUNTIME_CLOSED",
    "The effect pool is closing or closed; the call was not completed.",
  );
}

export function timedOutError({ stepId, attempt }: PoolCall, timeoutMs: number): HeddleError {
  return new HeddleError(
    "EFFECT_TIMED_OUT",
    `Step ${stepId} ran longer than ${timeoutMs} ms (attempt ${attempt}).`,
    { details: { stepId, timeoutMs } },
  );
}

export function unknownEffectError(effectId: string, module: string, known: readonly string[]): HeddleError {
  return new HeddleError(
    "EFFECT_UNKNOWN",
    `The effects module ${module} does not export an effect ${effectId}. It exports: ${known.join(", ") || "nothing"}.`,
    { details: { toolId: effectId } },
  );
}

/** The call took its thread down, or may have. */
export function lostError({ stepId, attempt }: PoolCall, end: LaneEnd): HeddleError {
  return new HeddleError(
    "EFFECT_WORKER_LOST",
    `The thread that ran step ${stepId} (attempt ${attempt}) ${deathOf(end)}. The step may have done its work.`,
    { details: { stepId, attempt }, ...causeOf(end) },
  );
}

/** The thread of the call was taken down by another, when its result was on its way. It may be made again as it was. */
export function lostBesideError(call: PoolCall, end: LaneEnd): HeddleError {
  const { message, details } = lostError(call, end);
  return new HeddleError("EFFECT_WORKER_LOST", message, {
    details: { ...details, isInnocent: true },
    ...causeOf(end),
  });
}

/** The call waited for a thread, and none comes. */
export function noThreadError({ stepId, attempt }: PoolCall, end: LaneEnd, failures: number): HeddleError {
  return new HeddleError(
    "EFFECT_WORKER_LOST",
    `Step ${stepId} (attempt ${attempt}) found no thread: ${failures} threads of the effect pool ended before they did any work; ` +
      `the last one ${deathOf(end)}.`,
    { details: { stepId, attempt }, ...causeOf(end) },
  );
}

/** The end of a thread, as far as those who had started on it may see each other's values. */
export function concealed(end: LaneEnd, started: readonly PendingCall[]): LaneEnd {
  if (!("error" in end)) return end;
  const error = started.reduce((seen, { request }) => request.conceal?.(seen) ?? seen, end.error);
  return error === end.error ? end : { ...end, error };
}

/** How a thread ended, in words that follow on "the thread". */
export function deathOf(end: LaneEnd): string {
  if (!("error" in end)) return "was ended by force";
  const { error } = end;
  if (!(error instanceof Error)) return "ended by throwing something that is no error";
  const { code } = error as { readonly code?: unknown };
  if (code === "ERR_WORKER_OUT_OF_MEMORY") return "ran out of memory";
  // In Piscina's words.
  const exit = /^worker exited with code: (\d+)$/.exec(error.message);
  if (exit) return `was ended by process.exit, with code ${exit[1] ?? ""}`;
  return `ended by an uncaught ${error.name}: ${error.message}`;
}

export function causeOf(end: LaneEnd): { readonly cause?: unknown } {
  return "error" in end ? { cause: end.error } : {};
}
