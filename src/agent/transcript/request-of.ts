import type { LlmMessage, LlmRequest, LlmToolSpec } from "../../llm/index.js";

/** A request as every turn makes it: what there is none of is not in it. */
export function requestOf(
  messages: readonly LlmMessage[],
  system: string | undefined,
  tools: readonly LlmToolSpec[],
): LlmRequest {
  return { messages, ...(system !== undefined && { system }), ...(tools.length > 0 && { tools }) };
}
