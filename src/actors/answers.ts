// Answers: which gate each named resume closed. A repeat of it must not close the next gate of that name.

import type { ResumeRequest } from "./messages.js";

export class Answers {
  /** Gate ids, made when first needed: most executions are never resumed. */
  #closed: Map<string, string> | undefined;

  note(gateId: string, requestId: string | undefined): void {
    if (requestId === undefined) return;
    this.#closed ??= new Map();
    this.#closed.set(nameOf(gateId.slice(0, gateId.lastIndexOf("#")), requestId), gateId);
  }

  isRepeat({ eventType, requestId, gateId }: ResumeRequest): boolean {
    const closed = requestId === undefined ? undefined : this.#closed?.get(nameOf(eventType, requestId));
    return closed !== undefined && (gateId === undefined || gateId === closed);
  }
}

function nameOf(eventType: string, requestId: string): string {
  return `${requestId}\0${eventType}`; // no id holds a NUL
}
