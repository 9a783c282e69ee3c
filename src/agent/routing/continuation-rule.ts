// Whether reasoning may be dropped: a routed turn that goes through no ring keeps nothing of a model's reasoning. Of that a host is
// told, or it forbids it.

/** Sticky: what one app of the process demands, no other one takes back. */
let isContinuationRequired = false;

/** From now on, in this process, no agent may ask a model that reasons in a way that drops its reasoning. */
export function requireReasoningContinuation(): void {
  isContinuationRequired = true;
}

export function reasoningMustContinue(): boolean {
  return isContinuationRequired;
}
