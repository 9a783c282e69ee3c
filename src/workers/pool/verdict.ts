// Verdict: when a thread is gone, whose doing it was, and what becomes of the calls that had started on it.
//
// V1  A call is guilty only for sure: the thread said so before it went, or it had the thread to itself, or the thread had
//     no chance to say and nobody else had started.
// V2  When one cannot tell (a thread out of memory says nothing), all that had started are suspects; each runs again alone,
//     and V1 decides.
// V3  The others run again. They are not charged an attempt.

import type { PendingCall } from "./call.js";
import type { LaneEnd } from "./lane.js";

export interface Verdict {
  readonly guilty: readonly PendingCall[];
  readonly suspects: readonly PendingCall[];
  readonly innocent: readonly PendingCall[];
}

/** `started`: the calls that had started and not finished. */
export function judge(end: LaneEnd, started: readonly PendingCall[], wasSolo: boolean): Verdict {
  const nobody: Verdict = { guilty: [], suspects: [], innocent: started };
  if (end.kind !== "died") return nobody;
  const { blame } = end;
  if (wasSolo || (blame === undefined && started.length === 1))
    return { ...nobody, guilty: started, innocent: [] };
  if (blame === undefined) return { ...nobody, suspects: started, innocent: [] };
  return {
    ...nobody,
    guilty: started.filter(({ id }) => id === blame),
    innocent: started.filter(({ id }) => id !== blame),
  };
}
