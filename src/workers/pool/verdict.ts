// Verdict: when a thread is gone, whose doing it was, and what becomes of the calls that had started on it.
//
// V1  A call is guilty only for sure: the thread said so before it went, or it had the thread to itself, or the thread had
//     no chance to say and nobody else had started.
// V2  When one cannot tell (a thread out of memory says nothing), all that had started are suspects; each runs again alone,
//     and V1 decides.
// V3  The others run again. They are not charged an attempt. One that may not be repeated is lost like the guilty: nobody
//     knows whether it did its work.

import type { PendingCall } from "./call.js";
import type { LaneEnd } from "./lane.js";

export interface Verdict {
  /** The guilty, and what may not run again. */
  readonly lost: readonly PendingCall[];
  readonly suspects: readonly PendingCall[];
  readonly innocent: readonly PendingCall[];
}

/** `started`: the calls that had started and not finished. */
export function judge(end: LaneEnd, started: readonly PendingCall[], wasSolo: boolean): Verdict {
  const { guilty, others } = accuse(end, started, wasSolo);
  const again = others.filter(mayRepeat);
  const isKnown = end.kind !== "died" || end.blame !== undefined || guilty.length > 0;
  return {
    lost: [...guilty, ...others.filter((call) => !mayRepeat(call))],
    suspects: isKnown ? [] : again,
    innocent: isKnown ? again : [],
  };
}

interface Accusation {
  readonly guilty: readonly PendingCall[];
  readonly others: readonly PendingCall[];
}

function accuse(end: LaneEnd, started: readonly PendingCall[], wasSolo: boolean): Accusation {
  if (end.kind !== "died") return { guilty: [], others: started };
  const { blame } = end;
  if (wasSolo || (blame === undefined && started.length === 1)) return { guilty: started, others: [] };
  return {
    guilty: started.filter(({ id }) => id === blame),
    others: started.filter(({ id }) => id !== blame),
  };
}

const mayRepeat = ({ request }: PendingCall): boolean => request.mayRepeat !== false;
