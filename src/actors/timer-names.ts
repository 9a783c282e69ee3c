// What a row of the timer index is for: a gate, the retry of a step, a step's deadline, or that of the execution.

export const GATE_TIMER = "gate:";
export const RETRY_TIMER = "retry:";
export const STEP_DEADLINE_TIMER = "until:";
export const DEADLINE_TIMER = "deadline";
