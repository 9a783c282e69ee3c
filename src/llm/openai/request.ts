// Requests in OpenAI's words (Chat Completions).

import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { GuardedMessage, GuardedPart, GuardedRequest } from "../guard/guarded.js";
import type { AssistantMessage, FilePart, ImagePart, MediaSource } from "../message.js";
import { partsOf } from "../sdk/answer.js";
import { textOf } from "../sdk/content.js";
import { unsupported } from "../sdk/failure.js";
import { withMediaBesideResults } from "../sdk/shown-media.js";
import { OPENAI } from "./names.js";

export interface Defaults {
  readonly model: string;
  readonly maxTokens: number | undefined;
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
  readonly reasoningField: string | undefined;
}

/** @throws LLM_REQUEST_REFUSED for a kind of file that Chat Completions do not take */
export function openAiRequest(
  request: GuardedRequest,
  defaults: Defaults,
): ChatCompletionCreateParamsNonStreaming {
  const { system, tools = [], toolChoice, temperature, stopSequences = [] } = request;
  const maxTokens = request.maxTokens ?? defaults.maxTokens;
  return {
    model: defaults.model,
    messages: [
      ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
      ...[...withMediaBesideResults(request.messages)].map((message) =>
        messageOf(message, defaults.reasoningField),
      ),
    ],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function" as const,
        function: { name, description, parameters: { ...inputSchema } },
      })),
    }),
    ...(toolChoice !== undefined && tools.length > 0 && { tool_choice: choiceOf(toolChoice) }),
    ...(maxTokens !== undefined && { [defaults.maxTokensField]: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences.length > 0 && { stop: [...stopSequences] }),
  };
}

function choiceOf(choice: NonNullable<GuardedRequest["toolChoice"]>) {
  return typeof choice === "object" ? { type: "function" as const, function: { name: choice.name } } : choice;
}

function messageOf(message: GuardedMessage, reasoningField: string | undefined): ChatCompletionMessageParam {
  const { role, content } = message;
  if (role === "assistant") return assistantOf(message, reasoningField);
  if (role === "tool") return { role, tool_call_id: message.toolCallId, content: textOf(content) };
  return { role, content: typeof content === "string" ? content : content.map(partOf) };
}

function assistantOf(
  message: AssistantMessage,
  reasoningField: string | undefined,
): ChatCompletionAssistantMessageParam {
  const { content, toolCalls = [] } = message;
  const thoughts = [...partsOf(message, OPENAI)].flatMap((part) =>
    part.kind === "reasoning" ? (part.block.text ?? "") : [],
  );
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, input }) => ({
        id,
        type: "function" as const,
        function: { name, arguments: JSON.stringify(input ?? {}) },
      })),
    }),
    ...(reasoningField !== undefined && thoughts.length > 0 && { [reasoningField]: thoughts.join("") }),
  };
}

function partOf(part: GuardedPart): ChatCompletionContentPart {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "image") return { type: "image_url", image_url: { url: addressOf(part, part.source) } };
  if (part.source.kind === "url") throw unsupported(OPENAI, "files by their address: send their bytes");
  return {
    type: "file",
    file: { filename: part.name ?? "file", file_data: addressOf(part, part.source) },
  };
}

function addressOf({ mediaType }: ImagePart | FilePart, source: MediaSource): string {
  return source.kind === "url" ? source.url : `data:${mediaType};base64,${source.data}`;
}
