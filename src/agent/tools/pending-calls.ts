// Pending calls: what people are asked, as a state tells it. For whoever shows them the calls and sends their answers.

import type { ExecutionState } from "../../kernel/index.js";
import type { LlmResponse } from "../../llm/index.js";
import { heldAnswer } from "../routing/held-answer.js";

/** A call that waits for somebody. */
export interface PendingCall {
  /** Which gate to resume. */
  readonly gateId: string;
  /** The name the gate was opened under: that of approvals, or that of human tools. */
  readonly on: string;
  /** Names this very call: hand it back with the answer, and no other call can be meant. */
  readonly correlationKey: string;
  /** Of the agent whose call it is. Of an agent that is a tool, the call of the agent around it. */
  readonly loopId: string;
  readonly turn: number;
  readonly name: string;
  readonly input: unknown;
}

type AnsweredState = Pick<ExecutionState, "frames" | "decisions">;

const KEY = /^(?<turnId>(?<loopId>.*)#turn:(?<turn>\d+)):tool:(?<index>\d+):[0-9a-f]{32}$/s;

/** The calls of all agents of an execution that wait for people, in the order in which their gates opened. */
export function pendingCalls(state: AnsweredState & Pick<ExecutionState, "gates">): PendingCall[] {
  return Object.values(state.gates).flatMap(({ gateId, on, status, correlationKey }) => {
    const named =
      status === "open" && correlationKey !== undefined ? KEY.exec(correlationKey)?.groups : undefined;
    if (!named || correlationKey === undefined) return [];
    const { turnId = "", loopId = "", turn, index } = named;
    const call = answerOf(state, turnId)?.toolCalls?.[Number(index)];
    if (!call) return [];
    const { name, input } = call;
    return [{ gateId, on, correlationKey, loopId, turn: Number(turn), name, input }];
  });
}

/** An answer that said nothing was asked for again: the last one counts. */
function answerOf(state: AnsweredState, turnId: string): LlmResponse | undefined {
  let answer = heldAnswer(state, turnId);
  for (let asked = 1; ; asked++) {
    const next = heldAnswer(state, `${turnId}:again:${asked}`);
    if (!next) return answer;
    answer = next;
  }
}
