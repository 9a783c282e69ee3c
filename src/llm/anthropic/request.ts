// Requests in Anthropic's words (Messages API).

import type {
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  MessageCreateParamsNonStreaming,
  MessageParam,
  TextBlockParam,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { GuardedMessage, GuardedPart, GuardedRequest, GuardedToolMessage } from "../guard/guarded.js";
import type { AssistantMessage, FilePart, ImagePart } from "../message.js";
import { partsOf } from "../sdk/answer.js";
import { partsIn } from "../sdk/content.js";
import { unsupported } from "../sdk/failure.js";
import { turnsOf } from "../sdk/turns.js";
import { ANTHROPIC } from "./names.js";
import type { AnthropicThinking } from "./options.js";

export interface Defaults {
  readonly model: string;
  readonly maxTokens: number;
  readonly thinking: AnthropicThinking | undefined;
  readonly cache: "5m" | "1h" | undefined;
}

type ResultPart = TextBlockParam | ImageBlockParam | DocumentBlockParam;

/** @throws LLM_REQUEST_REFUSED for a kind of file that Anthropic does not take */
export function anthropicRequest(
  request: GuardedRequest,
  defaults: Defaults,
): MessageCreateParamsNonStreaming {
  const { system, tools = [], toolChoice, temperature, stopSequences = [] } = request;
  const { model, thinking, cache } = defaults;
  return {
    model,
    max_tokens: request.maxTokens ?? defaults.maxTokens,
    messages: turnsOf(request.messages).map(({ speaker: role, messages }): MessageParam => {
      return { role, content: messages.flatMap(blocksOf) };
    }),
    ...(system !== undefined && { system }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: { ...inputSchema, type: "object" as const },
      })),
    }),
    ...(toolChoice !== undefined && tools.length > 0 && { tool_choice: choiceOf(toolChoice) }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences.length > 0 && { stop_sequences: [...stopSequences] }),
    ...(thinking && { thinking: thinkingOf(thinking) }),
    ...(cache && { cache_control: { type: "ephemeral" as const, ttl: cache } }),
  };
}

function choiceOf(choice: NonNullable<GuardedRequest["toolChoice"]>) {
  if (typeof choice === "object") return { type: "tool" as const, name: choice.name };
  return { type: choice === "required" ? ("any" as const) : choice };
}

function thinkingOf(thinking: AnthropicThinking) {
  if (thinking.type !== "enabled") return thinking;
  const { budgetTokens, ...rest } = thinking;
  return { ...rest, budget_tokens: budgetTokens };
}

function blocksOf(message: GuardedMessage): readonly ContentBlockParam[] {
  if (message.role === "assistant") return [...assistantBlocks(message)];
  return message.role === "tool" ? [resultBlock(message)] : contentBlocks(message.content);
}

function* assistantBlocks(message: AssistantMessage): Generator<ContentBlockParam> {
  for (const part of partsOf(message, ANTHROPIC)) {
    if (part.kind === "text") {
      if (isSaid(part.text)) yield { type: "text", text: part.text };
    } else if (part.kind === "call") {
      const { id, name, input } = part.call;
      yield { type: "tool_use", id, name, input: input ?? {} };
    } else if (part.block.signature !== undefined) {
      const { kind, text = "", signature } = part.block;
      yield kind === "redacted"
        ? { type: "redacted_thinking", data: signature }
        : { type: "thinking", thinking: text, signature };
    }
  }
}

function resultBlock({ toolCallId, content, isError }: GuardedToolMessage): ToolResultBlockParam {
  return {
    type: "tool_result",
    tool_use_id: toolCallId,
    content: contentBlocks(content),
    ...(isError && { is_error: true }),
  };
}

function contentBlocks(content: string | readonly GuardedPart[]): ResultPart[] {
  return partsIn(content).flatMap((part): ResultPart[] => {
    if (part.type === "text") return isSaid(part.text) ? [{ type: "text", text: part.text }] : [];
    return [part.type === "image" ? imageBlock(part) : documentBlock(part)];
  });
}

function imageBlock({ mediaType, source }: ImagePart): ImageBlockParam {
  if (source.kind === "url") return { type: "image", source: { type: "url", url: source.url } };
  if (!isImageType(mediaType)) throw unsupported(ANTHROPIC, `images of the type ${mediaType}`);
  return { type: "image", source: { type: "base64", media_type: mediaType, data: source.data } };
}

function documentBlock({ mediaType, name, source }: FilePart): DocumentBlockParam {
  const title = name !== undefined && { title: name };
  if (source.kind === "url") return { type: "document", source: { type: "url", url: source.url }, ...title };
  if (mediaType === "application/pdf")
    return {
      type: "document",
      source: { type: "base64", media_type: mediaType, data: source.data },
      ...title,
    };
  if (!mediaType.startsWith("text/")) throw unsupported(ANTHROPIC, `files of the type ${mediaType}`);
  const data = Buffer.from(source.data, "base64").toString("utf8");
  return { type: "document", source: { type: "text", media_type: "text/plain", data }, ...title };
}

function isImageType(
  mediaType: string,
): mediaType is "image/jpeg" | "image/png" | "image/gif" | "image/webp" {
  return ["image/jpeg", "image/png", "image/gif", "image/webp"].includes(mediaType);
}

/** Anthropic refuses blocks of nothing but white space. */
function isSaid(text: string): boolean {
  return /\S/u.test(text);
}
