// Requests in the words of the AI SDK; those that its versions have in common, and what is not.

import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3TextPart,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import type { GuardedMessage, GuardedPart, GuardedRequest, GuardedToolMessage } from "../guard/guarded.js";
import type { AssistantMessage } from "../message.js";
import { partsOf } from "../sdk/answer.js";
import { partsIn, textOf } from "../sdk/content.js";
import { withMediaBesideResults } from "../sdk/shown-media.js";
import type { AiSdkCall } from "./model.js";

type Saying = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];
type Results = Extract<LanguageModelV3Message, { role: "tool" }>["content"];

export function aiSdkCall(
  request: GuardedRequest,
  provider: string,
  abortSignal: AbortSignal,
): LanguageModelV3CallOptions {
  const { system, tools = [], toolChoice, maxTokens, temperature, stopSequences = [] } = request;
  return {
    prompt: [
      ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
      ...promptOf(request, provider),
    ],
    abortSignal,
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences.length > 0 && { stopSequences: [...stopSequences] }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function" as const,
        name,
        description,
        inputSchema: { ...inputSchema },
      })),
    }),
    ...(toolChoice !== undefined && tools.length > 0 && { toolChoice: choiceOf(toolChoice) }),
  };
}

/** The same call for a model of the fourth version, where the data of a file says what it is. */
export function withTaggedFiles(call: LanguageModelV3CallOptions): AiSdkCall {
  const prompt = call.prompt.map((message) => {
    if (message.role !== "user") return message;
    const content = message.content.map((part) => {
      if (part.type !== "file") return part;
      const { data } = part;
      return { ...part, data: data instanceof URL ? { type: "url", url: data } : { type: "data", data } };
    });
    return { ...message, content };
  });
  return { ...call, prompt };
}

function choiceOf(choice: NonNullable<GuardedRequest["toolChoice"]>) {
  return typeof choice === "object" ? { type: "tool" as const, toolName: choice.name } : { type: choice };
}

/** The results of one turn are one message there. */
function promptOf({ messages }: GuardedRequest, provider: string): LanguageModelV3Message[] {
  const prompt: LanguageModelV3Message[] = [];
  let results: Results | undefined;
  for (const message of withMediaBesideResults(messages)) {
    if (message.role !== "tool") {
      results = undefined;
      prompt.push(messageOf(message, provider));
      continue;
    }
    if (!results) {
      results = [];
      prompt.push({ role: "tool", content: results });
    }
    results.push(resultOf(message));
  }
  return prompt;
}

function messageOf(
  message: Exclude<GuardedMessage, GuardedToolMessage>,
  provider: string,
): LanguageModelV3Message {
  if (message.role === "assistant") return { role: "assistant", content: [...sayingOf(message, provider)] };
  return { role: "user", content: partsIn(message.content).map(partOf) };
}

function* sayingOf(message: AssistantMessage, provider: string): Generator<Saying[number]> {
  for (const part of partsOf(message, provider)) {
    if (part.kind === "text") yield { type: "text", text: part.text };
    else if (part.kind === "reasoning")
      yield { type: "reasoning", text: part.block.text ?? "", ...optionsIn(part.block.signature) };
    else {
      const { id: toolCallId, name: toolName, input, signature } = part.call;
      yield { type: "tool-call", toolCallId, toolName, input: input ?? {}, ...optionsIn(signature) };
    }
  }
}

/** Signatures are what the model's provider told of its part, as JSON: it wants that back. Those of other providers are none. */
function optionsIn(signature: string | undefined): { providerOptions?: SharedV3ProviderOptions } {
  if (!signature?.startsWith("{")) return {};
  try {
    return { providerOptions: JSON.parse(signature) as SharedV3ProviderOptions };
  } catch {
    return {};
  }
}

function resultOf({ toolCallId, toolName, content, isError }: GuardedToolMessage): Results[number] {
  const output = { type: isError ? ("error-text" as const) : ("text" as const), value: textOf(content) };
  return { type: "tool-result", toolCallId, toolName, output };
}

function partOf(part: GuardedPart): LanguageModelV3TextPart | LanguageModelV3FilePart {
  if (part.type === "text") return { type: "text", text: part.text };
  const { mediaType, source } = part;
  const data = source.kind === "url" ? new URL(source.url) : source.data;
  return {
    type: "file",
    data,
    mediaType,
    ...(part.type === "file" && part.name !== undefined && { filename: part.name }),
  };
}
