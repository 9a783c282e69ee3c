// What came of a call: what the model is shown, and what the log of calls keeps.

import type { LlmText, ToolMessage } from "../../llm/index.js";
import type { MetaAnswer } from "../menu/meta-tool.js";
import type { ToolCallError, ToolCallLogEntry } from "../result.js";
import type { Call } from "./call.js";
import { errorContent, resultContent } from "./result-content.js";

export type ToolAnswer =
  /** The log has it, as the outcome of the call's step: the transcript shows it. */
  | { readonly kind: "outcome"; readonly result: unknown }
  /** A result that is no step's. */
  | {
      readonly kind: "result";
      readonly result: unknown;
      readonly content: LlmText;
      /** The decision whose `content` it is. */
      readonly decisionId?: string;
    }
  | {
      readonly kind: "error";
      readonly content: LlmText;
      readonly error: ToolCallError;
      /** False: the tool was not asked. */
      readonly ran: boolean;
      readonly decisionId?: string;
    };

/** One that says itself what the model is shown. */
export type ShownAnswer = Exclude<ToolAnswer, { readonly kind: "outcome" }>;

export function resulted(call: Call, result: unknown, bytesMax: number): ShownAnswer {
  return { kind: "result", content: resultContent(call.name, result, bytesMax), result };
}

export function failed(
  call: Call,
  error: ToolCallError,
  ran: boolean,
  details?: Parameters<typeof errorContent>[2],
): ShownAnswer {
  return { kind: "error", content: errorContent(call.name, error, details), error, ran };
}

export function ofMeta({ content, error, decisionId }: MetaAnswer): ToolAnswer {
  const held = decisionId === undefined ? {} : { decisionId };
  if (error === undefined) return { kind: "result", content, result: content, ...held };
  return { kind: "error", content, error: { code: "failed", message: error }, ran: true, ...held };
}

export function notRun(call: Call): ToolAnswer {
  return failed(call, { code: "notRun", message: "The agent was stopped before this call was made." }, false);
}

export function toolMessage({ id, name }: Call, answer: ShownAnswer): ToolMessage {
  const { content } = answer;
  const message = { role: "tool", toolCallId: id, toolName: name, content } as const;
  return answer.kind === "error" ? { ...message, isError: true } : message;
}

export function logEntry(
  { id, name, input, stepId }: Call,
  turn: number,
  answer: ToolAnswer,
): ToolCallLogEntry {
  return answer.kind === "error"
    ? { id, name, turn, stepId, ran: answer.ran, input, error: answer.error }
    : { id, name, turn, stepId, ran: true, input, result: answer.result };
}
