// Requests in Gemini's words (generateContent).

import type {
  Content,
  FunctionCallingConfig,
  FunctionCallingConfigMode,
  GenerateContentConfig,
  GenerateContentParameters,
  Part,
} from "@google/genai";
import type { GuardedPart, GuardedRequest, GuardedToolMessage } from "../guard/guarded.js";
import type { AssistantMessage } from "../message.js";
import { partsOf } from "../sdk/answer.js";
import { partsIn, textOf } from "../sdk/content.js";
import { type Turn, turnsOf } from "../sdk/turns.js";
import { GEMINI } from "./names.js";

export interface Defaults {
  readonly model: string;
  readonly maxTokens: number | undefined;
  readonly includeThoughts: boolean;
}

export function geminiRequest(
  request: GuardedRequest,
  { model, maxTokens, includeThoughts }: Defaults,
  signal: AbortSignal,
): GenerateContentParameters {
  const { system, tools = [], toolChoice, temperature, stopSequences = [] } = request;
  const maxOutputTokens = request.maxTokens ?? maxTokens;
  const config: GenerateContentConfig = {
    abortSignal: signal,
    ...(system !== undefined && { systemInstruction: system }),
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, inputSchema }) => ({
            name,
            description,
            parametersJsonSchema: inputSchema,
          })),
        },
      ],
    }),
    ...(toolChoice !== undefined &&
      tools.length > 0 && { toolConfig: { functionCallingConfig: choiceOf(toolChoice) } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences.length > 0 && { stopSequences: [...stopSequences] }),
    ...(includeThoughts && { thinkingConfig: { includeThoughts } }),
  };
  return { model, contents: turnsOf(request.messages).map(contentOf), config };
}

function choiceOf(choice: NonNullable<GuardedRequest["toolChoice"]>): FunctionCallingConfig {
  // Its enum is a value of a package that may not be loaded.
  const mode = (name: "AUTO" | "NONE" | "ANY") => name as FunctionCallingConfigMode;
  if (typeof choice === "object") return { mode: mode("ANY"), allowedFunctionNames: [choice.name] };
  return { mode: mode(choice === "required" ? "ANY" : choice === "none" ? "NONE" : "AUTO") };
}

function contentOf({ speaker, messages }: Turn): Content {
  const parts: Part[] = [];
  for (const message of messages) {
    if (message.role === "assistant") addSaid(parts, message);
    else if (message.role === "tool") parts.push(...resultParts(message));
    else parts.push(...partsIn(message.content).map(partOf));
  }
  return { role: speaker === "assistant" ? "model" : "user", parts };
}

function addSaid(parts: Part[], message: AssistantMessage): void {
  for (const part of partsOf(message, GEMINI)) {
    if (part.kind === "text") parts.push({ text: part.text });
    else if (part.kind === "call") {
      const { id, name, input, signature } = part.call;
      const args = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
      parts.push({
        functionCall: { id, name, args },
        ...(signature !== undefined && { thoughtSignature: signature }),
      });
    } else {
      const { kind, text = "", signature } = part.block;
      const last = parts.at(-1);
      if (kind === "reasoning")
        parts.push({ thought: true, text, ...(signature !== undefined && { thoughtSignature: signature }) });
      // A signature alone belongs to the text before it.
      else if (last?.text !== undefined && !last.thought && !last.thoughtSignature)
        last.thoughtSignature = signature ?? "";
      else parts.push({ text: "", thoughtSignature: signature ?? "" });
    }
  }
}

/** A result is an object of text; what else a tool has to show stands beside it. */
function resultParts({ toolCallId: id, toolName: name, content, isError }: GuardedToolMessage): Part[] {
  const text = textOf(content);
  const response = isError ? { error: text } : { output: text };
  return [
    { functionResponse: { id, name, response } },
    ...partsIn(content)
      .filter((part) => part.type !== "text")
      .map(partOf),
  ];
}

function partOf(part: GuardedPart): Part {
  if (part.type === "text") return { text: part.text };
  const { mediaType: mimeType, source } = part;
  return source.kind === "url"
    ? { fileData: { fileUri: source.url, mimeType } }
    : { inlineData: { data: source.data, mimeType } };
}
