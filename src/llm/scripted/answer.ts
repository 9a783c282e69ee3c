// Scripted answers: what an author writes down, and the response it stands for.

import type { LlmToolCall, ReasoningBlock } from "../message.js";
import type { LlmRequest, LlmResponse, LlmUsage, StopReason } from "../provider.js";

/** A call of a tool as a script has it. `malformed` plays a model whose arguments are no JSON. */
export interface ScriptedCall {
  /** Default: `call-<answer>-<n>`, counted from 1. */
  readonly id?: string;
  readonly name: string;
  readonly input?: unknown;
  readonly malformed?: string;
  readonly signature?: string;
}

export interface ScriptedReply {
  readonly content?: string;
  readonly toolCalls?: readonly ScriptedCall[];
  readonly reasoning?: readonly ReasoningBlock[];
  /** Default: "toolUse" where there are calls, else "end". */
  readonly stopReason?: StopReason;
  /** Default: a quarter of the characters each way. */
  readonly usage?: LlmUsage;
  /** Before the first piece of the answer. Default 0. */
  readonly delayMs?: number;
  /** Before each further piece of a stream. Default 0. */
  readonly pieceDelayMs?: number;
  /** Thrown once the answer is told so far: a connection that breaks off. `complete` throws it at once. */
  readonly error?: Error;
}

/** Text, more than text, or how the call fails. */
export type ScriptedAnswer = string | ScriptedReply | Error;

export function replyOf(answer: ScriptedAnswer): ScriptedReply {
  if (typeof answer === "string") return { content: answer };
  return answer instanceof Error ? { error: answer } : answer;
}

/** @param turn counted from 1 */
export function responseOf(
  reply: ScriptedReply,
  turn: number,
  request: LlmRequest,
  model: string,
): LlmResponse {
  const { content = "", reasoning } = reply;
  const toolCalls = (reply.toolCalls ?? []).map((call, index) => callOf(call, `call-${turn}-${index + 1}`));
  return {
    content,
    ...(toolCalls.length > 0 && { toolCalls }),
    stopReason: reply.stopReason ?? (toolCalls.length > 0 ? "toolUse" : "end"),
    usage: reply.usage ?? estimate(request, content, toolCalls),
    ...(reasoning && { reasoning }),
    model,
  };
}

function callOf({ id, name, input, malformed, signature }: ScriptedCall, defaultId: string): LlmToolCall {
  return {
    id: id ?? defaultId,
    name,
    input: malformed === undefined ? (input ?? {}) : undefined,
    ...(malformed !== undefined && { malformed }),
    ...(signature !== undefined && { signature }),
  };
}

function estimate(request: LlmRequest, content: string, calls: readonly LlmToolCall[]): LlmUsage {
  const asked = request.messages.reduce((chars, { content: said }) => {
    return chars + (typeof said === "string" ? said.length : JSON.stringify(said).length);
  }, request.system?.length ?? 0);
  const answered = content.length + (calls.length > 0 ? JSON.stringify(calls).length : 0);
  return { inputTokens: Math.ceil(asked / 4), outputTokens: Math.ceil(answered / 4) };
}
