// What stands at a source, as a message. The loop and whoever reads its log later make messages by the same functions.

import type { AssistantMessage, LlmMessage, LlmResponse, LlmText, ToolMessage } from "../../llm/index.js";
import { resultContent } from "../tools/result-content.js";
import { assistantMessage, readAnswer } from "../turn/answer.js";
import type { MessageSource } from "./turn-form.js";

/**
 * @param outputOf what a step came to; throws for one that came to nothing
 * @param choiceOf what was decided; throws where nothing was
 */
export function messageOf(
  source: MessageSource,
  outputOf: (stepId: string) => unknown,
  choiceOf: (decisionId: string) => unknown,
): LlmMessage {
  if ("say" in source) return source.say;
  if ("decided" in source) return shownChoice(source, choiceOf(source.decided) as { content: LlmText });
  if ("answer" in source) {
    const { answer, ids } = source;
    return withIds(assistantMessage(readAnswer(answer, outputOf(answer))), ids);
  }
  return shownResult(source, outputOf(source.result));
}

/** The result of a call as its model is shown it. */
export function shownResult(
  { call, tool, bytesMax }: Extract<MessageSource, { readonly result: string }>,
  output: unknown,
): ToolMessage {
  return { role: "tool", toolCallId: call, toolName: tool, content: resultContent(tool, output, bytesMax) };
}

/** What was decided about a call as its model is shown it. */
export function shownChoice(
  { call, tool, isError }: Extract<MessageSource, { readonly decided: string }>,
  { content }: { readonly content: LlmText },
): ToolMessage {
  return { role: "tool", toolCallId: call, toolName: tool, content, ...(isError && { isError }) };
}

/** The ids of a message's calls, where they are not those the model gave. */
export function ownIds(message: AssistantMessage, response: LlmResponse): readonly string[] | undefined {
  const { toolCalls = [] } = message;
  const { toolCalls: given = [] } = response;
  return toolCalls.every(({ id }, index) => id === given[index]?.id)
    ? undefined
    : toolCalls.map(({ id }) => id);
}

function withIds(message: AssistantMessage, ids: readonly string[] | undefined): AssistantMessage {
  if (!ids) return message;
  const toolCalls = (message.toolCalls ?? []).map((call, index) => ({ ...call, id: ids[index] ?? call.id }));
  return { ...message, toolCalls };
}
