// Responses in OpenAI's words, whole or put together from a stream.

import type { ChatCompletion } from "openai/resources/chat/completions";
import type { CompletionUsage } from "openai/resources/completions";
import type { LlmResponse, LlmUsage, StopReason } from "../provider.js";
import { Answer, argumentsOf } from "../sdk/answer.js";
import { malformed } from "../sdk/failure.js";
import { OPENAI } from "./names.js";

export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface Whole {
  readonly content: string;
  /** What the model said instead of an answer. */
  readonly refusal: string;
  readonly reasoning: string;
  readonly calls: readonly WrittenCall[];
  readonly finishReason: string | null;
  readonly usage: CompletionUsage | null | undefined;
  readonly model: string;
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "end",
  tool_calls: "toolUse",
  function_call: "toolUse",
  length: "maxTokens",
  content_filter: "contentFilter",
};

/** @throws LLM_RESPONSE_INVALID */
export function openAiResponse(completion: ChatCompletion, reasoningField: string | undefined): LlmResponse {
  const choice = Array.isArray(completion?.choices) ? completion.choices[0] : undefined;
  if (typeof choice?.message !== "object") throw malformed(OPENAI, "it has no message");
  const { content, refusal, tool_calls: calls } = choice.message;
  return responseOf({
    content: content ?? "",
    refusal: refusal ?? "",
    reasoning: reasoningIn(choice.message, reasoningField),
    calls: (calls ?? []).flatMap((call) =>
      "function" in call
        ? [{ id: call.id, name: call.function.name, arguments: call.function.arguments }]
        : [],
    ),
    finishReason: choice.finish_reason,
    usage: completion.usage,
    model: completion.model,
  });
}

export function responseOf(whole: Whole): LlmResponse {
  const answer = new Answer();
  if (whole.reasoning !== "")
    answer.reasoning({ kind: "reasoning", provider: OPENAI, text: whole.reasoning });
  answer.text(whole.content + whole.refusal);
  for (const { id, name, arguments: written } of whole.calls)
    answer.call({ id, name, ...argumentsOf(written) });
  return answer.response({
    stopReason: stopReasonOf(whole, answer.hasCalls),
    ...(whole.usage && { usage: usageOf(whole.usage) }),
    model: whole.model,
  });
}

export function reasoningIn(message: object, field: string | undefined): string {
  const text: unknown = field === undefined ? undefined : Reflect.get(message, field);
  return typeof text === "string" ? text : "";
}

/** Some servers stop with calls and say "stop". */
function stopReasonOf({ refusal, finishReason }: Whole, hasCalls: boolean): StopReason {
  if (refusal !== "") return "contentFilter";
  const reason = STOP_REASONS[finishReason ?? ""] ?? "other";
  return reason === "end" && hasCalls ? "toolUse" : reason;
}

function usageOf(usage: CompletionUsage): LlmUsage {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    ...(cached > 0 && { cachedTokens: cached }),
  };
}
