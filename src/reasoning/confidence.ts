// Confidence: how much an answer is to be trusted, from 0 to 1, judged by the answer itself. What is judged is recorded, so a signal
// may change between versions without a replay taking another way.

import { invalidOption } from "../kernel/index.js";
import type { LlmRequest, LlmResponse } from "../llm/index.js";

/** From 0, of no use, to 1. May look the answer up somewhere: it is asked once for each answer, and what it says is recorded. */
export type ConfidenceSignal = (response: LlmResponse, request: LlmRequest) => number | Promise<number>;

/** Whether the model came to an end of its own: 1 if it did, 0 if it says nothing or was filtered, 0.25 if it was cut off. */
export const stopReasonConfidence: ConfidenceSignal = ({ content, toolCalls = [], stopReason }) => {
  if (stopReason === "contentFilter" || (content.trim() === "" && toolCalls.length === 0)) return 0;
  if (stopReason === "maxTokens") return 0.25;
  return stopReason === "other" ? 0.5 : 1;
};

/** 1 for a content the validator accepts, else 0. An answer that calls tools is not finished yet, and passes. */
export function validatorConfidence(isValid: (content: string) => boolean): ConfidenceSignal {
  if (typeof isValid !== "function")
    throw invalidOption("validatorConfidence", "takes a function of a content");
  return ({ content, toolCalls = [] }) => (toolCalls.length > 0 || isValid(content) ? 1 : 0);
}

/** The same for every answer: 1 never elevates, 0 always does. */
export function constantConfidence(confidence: number): ConfidenceSignal {
  checkConfidence("constantConfidence", confidence);
  return () => confidence;
}

/** @throws CONFIG_INVALID for what is no number from 0 to 1 */
export function checkConfidence(option: string, value: unknown): asserts value is number {
  if (typeof value === "number" && value >= 0 && value <= 1) return;
  throw invalidOption(option, `must be a number from 0 to 1, not ${String(value)}`);
}
