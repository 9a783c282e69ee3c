// Asking people: a call that waits at a gate for an answer that is meant for this very call.
//
// Q1  The gate's correlation key holds the call's place and a digest of its name and arguments. A resume that names another call
//     finds no gate; the runtime refuses it, records nothing, and this one stays open.
// Q2  What came through the gate and is no answer to this call is recorded as such, and the gate opens again.

import { sha256 } from "../sha256.js";
import type { AgentRun } from "../turn/run.js";
import type { RunnableCall } from "./call.js";

/** What was wrong with what came through a gate. */
export type AnswerFault =
  /** It names another call. */
  | "otherCall"
  /** It is nothing that this gate takes. */
  | "malformed";

/** The event that says that an answer was not taken. */
const REFUSED = "AgentGateAnswerRefused";

export type Reading<T> = { readonly answer: T } | { readonly fault: AnswerFault };

/** Waits until somebody answers. */
export async function askPeople<T>(
  { ctx }: AgentRun,
  gate: string,
  call: RunnableCall,
  read: (payload: unknown, key: string) => Reading<T>,
): Promise<T> {
  const correlationKey = keyOf(call);
  for (;;) {
    const payload = await ctx.suspend<unknown>({ on: gate, correlationKey });
    const reading = read(payload, correlationKey);
    if ("answer" in reading) return reading.answer;
    ctx.emit(REFUSED, { gate, correlationKey, fault: reading.fault }); // Q2
  }
}

const DIGEST_DIGITS = 32;

/** Names this very call: the same tool with other arguments has another key, and so has the same call in another turn. (Q1) */
function keyOf({ stepId, name, input }: RunnableCall): string {
  return `${stepId}:${sha256(JSON.stringify([name, input])).slice(0, DIGEST_DIGITS)}`;
}
