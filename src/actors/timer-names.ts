// A timer belongs to a gate or to a step's retry; both kinds of names share one row type.

export const GATE_TIMER = "gate:";
export const RETRY_TIMER = "retry:";
