// Draft: what one pass has gathered of one execution so far. Most passes touch little of it, and there are very many.

import { appended, type ExecutionEvent, type HeddleError, type TimerRow } from "../kernel/index.js";
import type { InFlight } from "./in-flight.js";
import type { Reply, ResumeRequest } from "./messages.js";

/** A resume that found its gate closed: whether it is a repeat or a loser is for the log to say. */
export interface ClosedResume {
  readonly request: ResumeRequest;
  readonly reply: Reply<void>;
}

export class Draft {
  events: ExecutionEvent[] | undefined;
  dispatches: InFlight[] | undefined;
  replies: Reply<void>[] | undefined;
  closedResumes: ClosedResume[] | undefined;
  armed: TimerRow[] | undefined;
  disarmed: TimerRow[] | undefined;

  append(event: ExecutionEvent): void {
    this.events = appended(this.events, event);
  }

  answer(reply: Reply<void>): void {
    this.replies = appended(this.replies, reply);
  }

  arm(row: TimerRow): void {
    this.armed = appended(this.armed, row);
  }

  disarm(row: TimerRow): void {
    // Stores disarm before they arm, so what this very pass armed must not stand there.
    if (this.armed)
      this.armed = this.armed.filter(({ wakeAt, gateId }) => wakeAt !== row.wakeAt || gateId !== row.gateId);
    this.disarmed = appended(this.disarmed, row);
  }

  /** Tells those who wait for it that it is void. */
  reject(error: HeddleError): void {
    for (const reply of this.replies ?? []) reply.reject(error);
    for (const { reply } of this.closedResumes ?? []) reply.reject(error);
  }
}
