import { LlmError } from "../llm-error.js";

/** Why a request does not leave. */
export type PromptFault =
  | "noMessages"
  | "unknownRole"
  | "emptyMessage"
  | "taintedPlace"
  | "taintForged"
  | "callIdMissing"
  | "callIdTwice"
  | "callUnanswered"
  | "callAnsweredTwice"
  | "resultWithoutCall";

/** @param place as in `messages[3].content` */
export function refusal(reason: PromptFault, place: string, complaint: string): LlmError {
  return new LlmError("LLM_PROMPT_INVALID", `${place}: ${complaint}`, { details: { reason, place } });
}
