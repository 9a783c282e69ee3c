// Answers of models: what a model effect gave back, read without trust, and what of it goes into the conversation.
//
// A1  The event keeps what the model wrote. What is sent back to a provider is well-formed: arguments are objects, names are names.
// A2  Every call of a conversation has an id of its own, and which it is follows from the log.

import { isClaimCheck } from "../../effects/index.js";
import { unwrapTainted } from "../../kernel/index.js";
import type { AssistantMessage, LlmMessage, LlmResponse, LlmToolCall, StopReason } from "../../llm/index.js";
import { answerInvalid } from "../errors.js";
import type { EmptyReason } from "../result.js";

/** Providers have a limit of their own; a name over this is no tool's. */
const NAME_CHARS_MAX = 256;

/** @throws AGENT_ANSWER_INVALID for what is no answer of a model */
export function readAnswer(stepId: string, given: unknown): LlmResponse {
  const value = unwrapTainted(given);
  if (isClaimCheck(value)) {
    throw answerInvalid(
      stepId,
      "was put away by a claim check: take the model out of execution.claimCheck.toolIds",
    );
  }
  if (typeof value !== "object" || value === null) throw answerInvalid(stepId, "is no object");
  const { content = "", toolCalls = [], stopReason } = value as Partial<LlmResponse>;
  if (typeof content !== "string") throw answerInvalid(stepId, "has a content that is no text");
  if (!Array.isArray(toolCalls)) throw answerInvalid(stepId, "has toolCalls that are no list");
  const implied: StopReason = toolCalls.length > 0 ? "toolUse" : "end";
  return { ...value, content, toolCalls, stopReason: stopReason ?? implied };
}

/** In which way an answer says nothing, if it does. */
export function emptinessOf({
  content,
  toolCalls = [],
  stopReason,
  reasoning = [],
}: LlmResponse): EmptyReason | undefined {
  if (toolCalls.length > 0) return undefined;
  if (stopReason === "contentFilter") return "contentFilter";
  if (stopReason === "toolUse") return "toolUseWithoutCall";
  if (content.trim() !== "") return undefined;
  return reasoning.length > 0 ? "reasoningOnly" : "nothing";
}

/** The message an answer is in its conversation, as far as its ids go. (A1) */
export function assistantMessage({ content, toolCalls = [], reasoning }: LlmResponse): AssistantMessage {
  return {
    role: "assistant",
    content,
    ...(toolCalls.length > 0 && { toolCalls: toolCalls.map(wellFormed) }),
    ...(reasoning && reasoning.length > 0 && { reasoning }),
  };
}

function wellFormed(call: LlmToolCall): LlmToolCall {
  const { id, name, input, signature } = (call ?? {}) as Partial<LlmToolCall>;
  return {
    id: typeof id === "string" ? id : "",
    name: typeof name === "string" && name !== "" && name.length <= NAME_CHARS_MAX ? name : "unnamed",
    input: typeof input === "object" && input !== null && !Array.isArray(input) ? input : {},
    ...(typeof signature === "string" && { signature }),
  };
}

/** The ids of the calls that were made in these messages. */
export function callIdsOf(messages: readonly LlmMessage[]): readonly string[] {
  return messages.flatMap((message) =>
    message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [],
  );
}

/**
 * The message with ids that tell its calls apart from all others; the same one where they do. (A2)
 *
 * @param taken the ids of the conversation so far, to which these are added
 */
export function withOwnIds(message: AssistantMessage, turn: number, taken: Set<string>): AssistantMessage {
  let isChanged = false;
  const toolCalls = message.toolCalls?.map((call, index) => {
    let { id } = call;
    for (let copy = 0; id === "" || taken.has(id); copy++)
      id = `call_${turn}_${index}${copy === 0 ? "" : `_${copy}`}`;
    taken.add(id);
    if (id === call.id) return call;
    isChanged = true;
    return { ...call, id };
  });
  return isChanged && toolCalls ? { ...message, toolCalls } : message;
}
